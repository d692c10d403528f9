public import JSON
public import Storage
import Values

/// The name of a user as searches compare it: in lower case, with single blanks, short enough for an index.
public struct SearchName: Sendable, Hashable {
    public let text: String
    private static let longest = 100

    public init(_ name: String) {
        text = name.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(
            bytes: Self.longest)
    }

    /// The name that `profile` shows, or else the given and the family name; empty if it has none.
    public init(of profile: JSON) {
        func claim(_ name: String) -> String { profile[name]?.string ?? "" }
        let name = claim("name")
        self.init(name.isEmpty ? "\(claim("given_name")) \(claim("family_name"))" : name)
    }
}

extension SearchName: SQLBindable {
    public var sqlValue: SQLValue { .text(text) }
}
