public import Directory
public import JOSE
public import JSON
import OAuth
public import Values

/// Somebody whom a merchant trusts to say who a person is (RFC 7523).
public struct TrustedIssuer: Sendable {
    public typealias ID = Identifier<TrustedIssuer>

    /// What its assertions are verified with.
    public enum KeySource: Sendable, Equatable {
        /// Public keys as they were registered: a JWK set.
        case keySet(String)
        /// Where it publishes its key set.
        case address(String)
        /// Where it publishes what it is: its name, its addresses, and where its keys are (OpenID Connect Discovery §4).
        case discovery(String)
        /// A shared secret, sealed for this row.
        case secret(sealed: String)

        public var isSecret: Bool { if case .secret = self { true } else { false } }
    }

    public let id: ID
    public let merchant: Merchant.ID
    /// The `iss` of its assertions, compared as the exact text.
    public let issuer: String
    public var keys: KeySource
    /// Set when the issuer is a provider; apps may send its access tokens too, where it has such.
    public var app: ProviderApp?
    /// What its assertions may also be addressed to, besides us; whom a provider's access token must be issued to.
    public var audiences: [String]
    public var algorithms: Set<SignatureAlgorithm>
    /// Whether a subject that is not known yet becomes a new account.
    public var createsUsers: Bool
    public var rules: IssuerRules
    /// Set when people are sent there to sign in.
    public var signIn: SignInSettings?
    public let createdAt: Timestamp
    public var updatedAt: Timestamp
    public var disabledAt: Timestamp?
}

extension TrustedIssuer {
    /// Every name that may stand in its `iss`.
    var names: [String] { [issuer] + (app?.provider.aliases ?? []) }

    /// What people call it.
    public var title: String { signIn?.name ?? app?.provider.name ?? issuer }

    /// Whether its keys are those that everybody knows the provider by: nobody's word but the provider's own.
    public var hasProvidersKeys: Bool { app.map { $0.provider.keys == keys } ?? false }

    /// Whether its word may lead to an account that it did not make and that nobody linked to it: by an address.
    public var vouchesForAddresses: Bool { rules.linksByEmail || !rules.authoritativeDomains.isEmpty }

    /// Whether `other` takes the same tokens, and as the same people.
    public func isTrustedAlike(_ other: TrustedIssuer) -> Bool {
        keys == other.keys && app?.provider == other.app?.provider && audiences == other.audiences
            && algorithms == other.algorithms && rules == other.rules
    }

    /// The issuer as administration shows it. Secrets are not part of it.
    public var json: JSON {
        var keySet: JSON?
        var address: JSON?
        var document: JSON?
        switch keys {
        case .keySet(let text): keySet = try? JSON(stored: text)
        case .address(let text): address = .string(text)
        case .discovery(let text): document = .string(text)
        case .secret: break
        }
        let members: JSON = .members([
            "id": .string(id.text),
            "merchant_id": .string(merchant.text),
            "issuer": .string(issuer),
            "jwks": keySet,
            "jwks_uri": address,
            "discovery_url": document,
            "provider": app.map { .string($0.provider.rawValue) },
            "app_names": app.map { .array($0.names.map { .string($0) }) },
            "audiences": .array(audiences.map { .string($0) }),
            "algorithms": .array(algorithms.map(\.rawValue).sorted().map { .string($0) }),
            "create_users": .bool(createsUsers),
            "client_id": signIn.map { .string($0.clientID) },
            "sign_in_name": signIn.map { .string($0.name) },
            "scope": signIn.map { .string($0.scope) },
            "created_at": .integer(createdAt.seconds),
            "updated_at": .integer(updatedAt.seconds),
            "disabled": .bool(disabledAt != nil),
        ])
        return .object((members.members ?? []) + rules.members)
    }
}
