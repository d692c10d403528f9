/// The names of an answer's columns: one object for all answers of a prepared statement.
public final class ColumnNames: Sendable {
    private let names: [String]

    public init(_ names: [String]) { self.names = names }

    public var count: Int { names.count }

    /// Where `name` stands; the first place when several bear it.
    public func index(of name: String) -> Int? {
        let length = name.utf8.count
        // Comparing lengths is far cheaper than comparing texts.
        return names.firstIndex { $0.utf8.count == length && $0 == name }
    }
}
