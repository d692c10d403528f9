public import JOSE
public import OAuth
public import Values

/// Somebody whom a merchant trusts to say who a person is (RFC 7523).
public struct TrustedIssuer: Sendable {
    public typealias ID = Identifier<TrustedIssuer>

    /// What its assertions are verified with.
    public enum KeySource: Sendable {
        /// Public keys as they were registered: a JWK set.
        case keySet(String)
        /// Where it publishes its key set.
        case address(String)
        /// A shared secret, sealed for this row.
        case secret(sealed: String)

        public var isSecret: Bool { if case .secret = self { true } else { false } }
    }

    public let id: ID
    public let merchant: Merchant.ID
    /// The `iss` of its assertions, compared as the exact text.
    public let issuer: String
    /// Nil only where the issuer is a provider, and nothing but its access tokens is taken.
    public var keys: KeySource?
    /// Set when the issuer is a provider whose access tokens apps may send.
    public var app: ProviderApp?
    /// What its assertions may also be addressed to, besides us; whom a provider's access token must be issued to.
    public var audiences: [String]
    public var algorithms: Set<SignatureAlgorithm>
    /// Whether a subject that is not known yet becomes a new account.
    public var createsUsers: Bool
    public let createdAt: Timestamp
    public var updatedAt: Timestamp
    public var disabledAt: Timestamp?
}

extension TrustedIssuer {
    /// The issuer as administration shows it. Secrets are not part of it.
    public var json: JSON {
        var keySet: JSON?
        var address: JSON?
        switch keys {
        case .keySet(let text): keySet = try? JSON(parsing: Array(text.utf8))
        case .address(let text): address = .string(text)
        case .secret, nil: break
        }
        return .members([
            "id": .string(id.text),
            "merchant_id": .string(merchant.text),
            "issuer": .string(issuer),
            "jwks": keySet,
            "jwks_uri": address,
            "provider": app.map { .string($0.provider.rawValue) },
            "app_names": app.map { .array($0.names.map { .string($0) }) },
            "audiences": .array(audiences.map { .string($0) }),
            "algorithms": .array(algorithms.map(\.rawValue).sorted().map { .string($0) }),
            "create_users": .bool(createsUsers),
            "created_at": .integer(createdAt.seconds),
            "updated_at": .integer(updatedAt.seconds),
            "disabled": .bool(disabledAt != nil),
        ])
    }
}
