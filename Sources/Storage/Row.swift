/// One row of an answer, read by column name.
public struct Row: Sendable {
    @usableFromInline let columns: ColumnNames
    /// Those of all rows of the answer, which share one array.
    @usableFromInline let values: [SQLValue]
    @usableFromInline let start: Int

    /// The rows of an answer whose `values` stand one row after another.
    public static func all(_ columns: ColumnNames, _ values: [SQLValue]) -> [Row] {
        guard !values.isEmpty else { return [] }
        return stride(from: 0, to: values.count, by: columns.count).map { start in
            Row(columns: columns, values: values, start: start)
        }
    }

    /// The value of `column`. Throws `StorageError.unreadable` when it is absent or of another type.
    // Inlined, so that each type's reader is its own code and not a look-up of metadata.
    @inlinable
    public func get<Value: SQLReadable>(_ column: String, as type: Value.Type = Value.self) throws -> Value {
        guard let index = columns.index(of: column) else { throw StorageError.unreadable("no column \(column)") }
        do {
            return try Value(sqlValue: values[start + index])
        } catch StorageError.unreadable(let reason) {
            throw StorageError.unreadable("\(column): \(reason)")
        }
    }
}
