public import JSON
import Values

extension Row {
    /// A time in the format of the copy of a user's data, in UTC; nil when the column is NULL.
    public func utc(_ column: String) throws -> JSON? {
        try get(column, as: Timestamp?.self).map { .string($0.iso8601) }
    }
}
