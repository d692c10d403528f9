public import Cryptography
import Storage

/// How the ID tokens and logout tokens of a client are signed.
public enum IDTokenAlgorithm: Sendable, Equatable {
    /// By a key of the server, which anyone can verify.
    case key(PrivateKey.Algorithm)
    /// HS256 with the client's sign secret (OpenID Connect Core §10.1), since only fingerprints of client secrets are
    /// stored. A holder of the secret can make such tokens too.
    case signSecret

    init?(name: String) {
        if name == Self.signSecret.name { self = .signSecret; return }
        guard let algorithm = PrivateKey.Algorithm(rawValue: name) else { return nil }
        self = .key(algorithm)
    }

    /// The name in JOSE headers (RFC 7518 §3.1).
    public var name: String {
        switch self {
        case .key(let algorithm): algorithm.rawValue
        case .signSecret: "HS256"
        }
    }

    /// The algorithm of the server's key; nil when none signs.
    public var ofKey: PrivateKey.Algorithm? {
        guard case .key(let algorithm) = self else { return nil }
        return algorithm
    }

    public static let all = PrivateKey.Algorithm.allCases.map(Self.key) + [.signSecret]
}

extension OpenIDSettings {
    /// The algorithm of its JWT access tokens. Resource servers verify them with our key set, so they are never signed
    /// with a shared secret (RFC 9068 §2.1).
    public var accessTokenAlgorithm: PrivateKey.Algorithm { idTokenAlgorithm.ofKey ?? .rs256 }
}

extension OpenIDSettings {
    /// The algorithms of the signatures that the client asks for.
    var signatures: Set<PrivateKey.Algorithm> {
        Set([idTokenAlgorithm.ofKey, userinfoAlgorithm].compactMap(\.self))
    }
}

extension Clients {
    /// The algorithms of the server's signatures: RS256 and those that enabled clients ask for.
    public func algorithmsInUse() async throws -> Set<PrivateKey.Algorithm> {
        try await database.read { db in
            // Most clients have registered no OpenID Connect settings.
            let rows = try db.rows(
                "SELECT \(Self.columns) FROM clients WHERE openid <> '{}' AND disabled_at IS NULL")
            return try rows.reduce(into: [.rs256]) { $0.formUnion(try Client($1).openID.signatures) }
        }
    }
}
