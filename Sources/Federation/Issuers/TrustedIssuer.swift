public import Directory
public import JOSE
public import JSON
import OAuth
public import Values

/// An issuer that a merchant trusts to identify users (RFC 7523).
public struct TrustedIssuer: Sendable {
    public typealias ID = Identifier<TrustedIssuer>

    /// The keys that verify its assertions.
    public enum KeySource: Sendable, Equatable {
        /// Public keys as they were registered: a JWK set.
        case keySet(String)
        /// The address of its key set.
        case address(String)
        /// The address of its discovery document: its name, endpoints and key set (OpenID Connect Discovery §4).
        case discovery(String)
        /// A shared secret, sealed for this row.
        case secret(sealed: String)

        public var isSecret: Bool { if case .secret = self { true } else { false } }
    }

    public let id: ID
    public let merchant: Merchant.ID
    /// The `iss` of its assertions, compared as exact text.
    public let issuer: String
    public var keys: KeySource
    /// Set when the issuer is a provider. Apps may then send its access tokens too, if it has any.
    public var app: ProviderApp?
    /// The audiences that its assertions may have besides us, or the apps that a provider's access token may be issued
    /// to.
    public var audiences: [String]
    public var algorithms: Set<SignatureAlgorithm>
    /// Whether an unknown subject becomes a new user.
    public var createsUsers: Bool
    public var rules: IssuerRules
    /// Set when users can sign in there.
    public var signIn: SignInSettings?
    public let createdAt: Timestamp
    public var updatedAt: Timestamp
    public var disabledAt: Timestamp?
    /// Whether the platform lets a provider's sign-ins be good at every merchant.
    public var signsInEverywhere: Bool
    /// Whether it has been guarded at any time since it was registered.
    let wasGuarded: Bool
}

extension TrustedIssuer {
    /// Every name that its `iss` may have.
    var names: [String] { [issuer] + (app?.provider.aliases ?? []) }

    /// Its name for users.
    public var title: String { signIn?.name ?? app?.provider.name ?? issuer }

    /// Its name in mails that warn users of it. A merchant chooses the text of its buttons, so warnings use a
    /// provider's own name.
    var nameInWarnings: String {
        if let name = app?.provider.name ?? signIn?.name { return name }
        let scheme = "https://"
        return issuer.hasPrefix(scheme) ? String(issuer.dropFirst(scheme.count)) : issuer
    }

    /// Whether its keys are the provider's well-known ones: only the provider itself can sign its tokens.
    public var hasProvidersKeys: Bool { app.map { $0.provider.keys == keys } ?? false }

    /// The share that pays for fetching its documents. A provider's documents are the same for all merchants.
    var documentShare: String { hasProvidersKeys ? "providers" : merchant.text }

    /// Whether an address may lead it to a user that it did not create and that is not linked to it.
    public var vouchesForAddresses: Bool { rules.linksByEmail || !rules.authoritativeDomains.isEmpty }

    /// Whether it leads, or ever led, to users by the platform's word. Its links stay when the platform takes that word
    /// back.
    public var isGuarded: Bool { wasGuarded || vouchesForAddresses || (signIn != nil && !hasProvidersKeys) }

    /// Whether `other` accepts the same tokens, and for the same users.
    public func isTrustedAlike(_ other: TrustedIssuer) -> Bool {
        keys == other.keys && app?.provider == other.app?.provider && audiences == other.audiences
            && algorithms == other.algorithms && rules == other.rules
    }

    /// The issuer as the admin API shows it, without its secrets.
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
            "signs_in_everywhere": app.map { _ in .bool(signsInEverywhere) },
            "created_at": .integer(createdAt.seconds),
            "updated_at": .integer(updatedAt.seconds),
            "disabled": .bool(disabledAt != nil),
        ])
        return .object((members.members ?? []) + rules.members)
    }
}
