/// One row of an answer, read by column name.
public struct Row: Sendable {
    @usableFromInline let columns: [String]
    @usableFromInline let values: [SQLValue]

    public init(columns: [String], values: [SQLValue]) {
        self.columns = columns
        self.values = values
    }

    /// The value of `column`. Throws `StorageError.unreadable` when it is absent or of another type.
    // Inlined, so that each type's reader is its own code and not a look-up of metadata.
    @inlinable
    public func get<Value: SQLReadable>(_ column: String, as type: Value.Type = Value.self) throws -> Value {
        guard let index = columns.firstIndex(of: column) else { throw StorageError.unreadable("no column \(column)") }
        do {
            return try Value(sqlValue: values[index])
        } catch StorageError.unreadable(let reason) {
            throw StorageError.unreadable("\(column): \(reason)")
        }
    }
}
