/// The column names of a result: one object for all results of a prepared statement.
public final class ColumnNames: Sendable {
    private let names: [String]

    public init(_ names: [String]) { self.names = names }

    public var count: Int { names.count }

    /// The index of `name`; the first one if several columns have it.
    public func index(of name: String) -> Int? {
        let length = name.utf8.count
        // Comparing lengths is far cheaper than comparing texts.
        return names.firstIndex { $0.utf8.count == length && $0 == name }
    }
}
