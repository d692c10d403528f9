public import Storage

/// A set of scope tokens that keeps their order (RFC 6749 §3.3).
public struct Scope: Sendable, Hashable, CustomStringConvertible {
    public let tokens: [String]

    public init(_ tokens: [String]) {
        // Most scopes have a handful of tokens, for which a set costs more than it saves.
        let isSmall = tokens.count <= 8
        if isSmall, !tokens.indices.contains(where: { tokens[..<$0].contains(tokens[$0]) }) {
            self.tokens = tokens
            return
        }
        var seen: Set<String> = []
        self.tokens = tokens.filter { seen.insert($0).inserted }
    }

    /// Reads tokens of `%x21 / %x23-5B / %x5D-7E` separated by spaces; nil for anything else.
    public init?(parsing text: String) {
        let tokens = Self.split(text)
        guard
            tokens.allSatisfy({ token in
                token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
            })
        else { return nil }
        self.init(tokens)
    }

    /// The tokens of `text`. Split as bytes: finding characters takes twenty times as long.
    private static func split(_ text: String) -> [String] {
        text.utf8.span.withUnsafeBufferPointer { bytes in
            var tokens: [String] = []
            tokens.reserveCapacity(bytes.count { $0 == UInt8(ascii: " ") } + 1)
            var start = 0
            for index in 0...bytes.count where index == bytes.count || bytes[index] == UInt8(ascii: " ") {
                if index > start { tokens.append(String(decoding: bytes[start..<index], as: UTF8.self)) }
                start = index + 1
            }
            return tokens
        }
    }

    public static let empty = Scope([])
    /// Administration of the whole deployment, and of one merchant; help for users, and a look at what happened.
    /// `AdministratorRoles` says whose clients have which role by them.
    public static let admin = "admin"
    public static let adminMerchant = "admin:merchant"
    public static let adminSupport = "admin:support"
    public static let adminAudit = "admin:audit"
    /// Never granted unless requested by name, and by client_credentials alone.
    public static let administration = Scope([admin, adminMerchant, adminSupport, adminAudit])
    /// Requests an ID token (OpenID Connect Core §3.1.2.1).
    public static let openID = "openid"
    /// Requests tokens that also work while the user is away (OpenID Connect Core §11).
    public static let offlineAccess = "offline_access"
    private static let neverByDefault = administration.tokens + [openID, offlineAccess]
    /// What any client may ask a user for, by the specification (OpenID Connect Core §5.4, §11). A client's `scope` may
    /// contain further words.
    public static let standard = Scope([openID, "profile", "email", "address", "phone", offlineAccess])

    public var description: String { tokens.joined(separator: " ") }
    public var isEmpty: Bool { tokens.isEmpty }
    public func contains(_ token: String) -> Bool { tokens.contains(token) }
    public func isSubset(of other: Scope) -> Bool { tokens.allSatisfy(other.contains) }
    public func intersection(_ other: Scope) -> Scope { Scope(tokens.filter(other.contains)) }
    public func union(_ other: Scope) -> Scope { Scope(tokens + other.tokens) }
    public mutating func formUnion(_ other: Scope) { self = union(other) }
    public func subtracting(_ other: Scope) -> Scope { Scope(tokens.filter { !other.contains($0) }) }

    /// The scope that a request without `scope` gets.
    public var byDefault: Scope { Scope(tokens.filter { !Self.neverByDefault.contains($0) }) }
    /// The scope without offline access.
    package var forNow: Scope { Scope(tokens.filter { $0 != Self.offlineAccess }) }
    /// The tokens with a meaning here, whichever client has them.
    package var known: Scope {
        intersection(Self.standard.union(Self.administration))
    }
    /// Whether it contains an admin scope.
    public var administers: Bool { tokens.contains(where: Self.administration.contains) }
    /// The scope that a user's token may have: admin scopes are granted by client_credentials only.
    public var withoutAdministration: Scope { subtracting(Self.administration) }
}

extension Scope: SQLBindable, SQLReadable {
    public var sqlValue: SQLValue { .text(description) }
    public init(sqlValue: SQLValue) throws {
        self.init(Self.split(try String(sqlValue: sqlValue)))
    }
}
