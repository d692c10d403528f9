public import Storage

/// A set of scope tokens that remembers its order (RFC 6749 §3.3).
public struct Scope: Sendable, Hashable, CustomStringConvertible {
    public let tokens: [String]

    public init(_ tokens: [String]) {
        // Most have a handful of tokens, for which a set costs more than it spares.
        let isSmall = tokens.count <= 8
        if isSmall, !tokens.indices.contains(where: { tokens[..<$0].contains(tokens[$0]) }) {
            self.tokens = tokens
            return
        }
        var seen: Set<String> = []
        self.tokens = tokens.filter { seen.insert($0).inserted }
    }

    /// Reads tokens of `%x21 / %x23-5B / %x5D-7E` separated by spaces; nil when `text` is anything else.
    public init?(parsing text: String) {
        let tokens = text.split(separator: " ").map(String.init)
        guard
            tokens.allSatisfy({ token in
                token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
            })
        else { return nil }
        self.init(tokens)
    }

    public static let empty = Scope([])
    /// Administration of the whole deployment, and of one merchant. Never given unless asked for by name.
    public static let admin = "admin"
    public static let adminMerchant = "admin:merchant"
    /// That an ID token is wanted (OpenID Connect Core §3.1.2.1).
    public static let openID = "openid"
    /// That tokens are for when the person is away, too (OpenID Connect Core §11).
    public static let offlineAccess = "offline_access"
    private static let neverByDefault: Set<String> = [admin, adminMerchant, openID, offlineAccess]

    public var description: String { tokens.joined(separator: " ") }
    public var isEmpty: Bool { tokens.isEmpty }
    public func contains(_ token: String) -> Bool { tokens.contains(token) }
    public func isSubset(of other: Scope) -> Bool { tokens.allSatisfy(other.contains) }
    public func intersection(_ other: Scope) -> Scope { Scope(tokens.filter(other.contains)) }
    public func union(_ other: Scope) -> Scope { Scope(tokens + other.tokens) }
    public mutating func formUnion(_ other: Scope) { self = union(other) }
    public func subtracting(_ other: Scope) -> Scope { Scope(tokens.filter { !other.contains($0) }) }

    /// What a request without `scope` gets.
    public var byDefault: Scope { Scope(tokens.filter { !Self.neverByDefault.contains($0) }) }
    /// Without the wish to outlive the moment.
    package var forNow: Scope { Scope(tokens.filter { $0 != Self.offlineAccess }) }
    /// What a person's token may carry: administration comes by client_credentials alone.
    public var withoutAdministration: Scope {
        Scope(tokens.filter { $0 != Self.admin && $0 != Self.adminMerchant })
    }
}

extension Scope: SQLBindable, SQLReadable {
    public var sqlValue: SQLValue { .text(description) }
    public init(sqlValue: SQLValue) throws {
        self.init(try String(sqlValue: sqlValue).split(separator: " ").map(String.init))
    }
}
