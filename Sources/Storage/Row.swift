public import JSON
import Values

/// One row of a result, read by column name.
public struct Row: Sendable {
    @usableFromInline let columns: ColumnNames
    /// The values of all rows of the result, which share one array.
    @usableFromInline let values: [SQLValue]
    @usableFromInline let start: Int

    /// The rows of a result, whose `values` follow one another row by row.
    public static func all(_ columns: ColumnNames, _ values: [SQLValue]) -> [Row] {
        guard !values.isEmpty else { return [] }
        return stride(from: 0, to: values.count, by: columns.count).map { start in
            Row(columns: columns, values: values, start: start)
        }
    }

    /// The value of `column`. Throws `StorageError.unreadable` when it is absent or of another type.
    // Inlined, so that each type's reader is specialized and needs no metadata look-up.
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

extension Row {
    /// A time in the format of the copy of a user's data, in UTC; nil when the column is NULL.
    public func utc(_ column: String) throws -> JSON? {
        try get(column, as: Timestamp?.self).map { .string($0.iso8601) }
    }
}
