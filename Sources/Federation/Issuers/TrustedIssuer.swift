public import Directory
public import JOSE
public import JSON
import Keys
import OAuth
package import Storage
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

extension Seal {
    /// The issuer `id` as `metadata` describes it over `base`, with its secrets sealed for its row. Nil if no keys are
    /// named. A new sign-in at a provider is good everywhere if `signsInEverywhere`, unless `metadata` says otherwise.
    func issuer(
        _ id: TrustedIssuer.ID, of merchant: Merchant.ID, _ metadata: IssuerMetadata, over base: TrustedIssuer?,
        signsInEverywhere: Bool, at now: Timestamp
    ) -> TrustedIssuer? {
        let isSetUp = metadata.app != nil && metadata.signIn != nil && base?.signIn == nil
        guard let keys = stored(metadata.keys, of: id) ?? base?.keys ?? metadata.app?.provider.keys else { return nil }
        return TrustedIssuer(
            id: id, merchant: merchant, issuer: metadata.issuer, keys: keys,
            app: metadata.app.map { stored($0, of: id, over: base?.app) }, audiences: metadata.audiences,
            algorithms: metadata.algorithms, createsUsers: metadata.createsUsers, rules: metadata.rules,
            signIn: metadata.signIn?.settings(over: base?.signIn, app: metadata.app) { secret in
                seal(secret.value, .upstreamSecret, row: id.text)
            }, createdAt: base?.createdAt ?? now, updatedAt: now,
            disabledAt: metadata.isDisabled ? base?.disabledAt ?? now : nil,
            signsInEverywhere: metadata.signsInEverywhere
                ?? (base?.signsInEverywhere == true || signsInEverywhere && isSetUp),
            wasGuarded: base?.isGuarded ?? false)
    }

    private func stored(_ keys: IssuerMetadata.NewKeys?, of id: TrustedIssuer.ID) -> TrustedIssuer.KeySource? {
        switch keys {
        case nil: nil
        case .keySet(let text): .keySet(text)
        case .address(let text): .address(text)
        case .discovery(let text): .discovery(text)
        case .secret(let secret): .secret(sealed: seal(secret.value, .issuerSecret, row: id.text))
        }
    }

    private func stored(
        _ app: IssuerMetadata.NewApp, of id: TrustedIssuer.ID, over base: ProviderApp?
    ) -> ProviderApp {
        let secret = app.secret.map { seal($0.value, .appSecret, row: id.text) }
        return ProviderApp(provider: app.provider, names: app.names, sealedSecret: secret ?? base?.sealedSecret)
    }

    /// Our client secret at `issuer`; nil where none is needed.
    func clientSecret(of issuer: TrustedIssuer) throws -> Secret<SignInSettings>? {
        if let sealed = issuer.signIn?.sealedClientSecret {
            return Secret(try open(sealed, .upstreamSecret, row: issuer.id.text))
        }
        guard issuer.app?.provider == .facebook, let sealed = issuer.app?.sealedSecret else { return nil }
        return Secret(try open(sealed, .appSecret, row: issuer.id.text))
    }
}

extension TrustedIssuers {
    /// The rows that `columns` belong to: a deleted issuer has none.
    static let stored: SQL = "issuer_settings s JOIN issuers i ON i.id = s.issuer_id"

    static let columns: SQL.Columns = """
        s.issuer_id AS id, s.merchant_id, issuer, jwks, jwks_uri, discovery_url, sealed_secret, provider, app_names, \
        sealed_app_secret, audiences, algorithms, create_users, rules, client_id, sealed_client_secret, sign_in_name, \
        scope, created_at, updated_at, disabled_at, guarded, signs_in_everywhere
        """

    static func insert(_ issuer: TrustedIssuer, in db: any Transaction) throws {
        try Issuers.add(issuer.id.text, of: issuer.merchant, disabledAt: issuer.disabledAt, in: db)
        let keys = issuer.storedKeys
        try db.execute(
            """
            INSERT INTO issuer_settings (issuer_id, merchant_id, issuer, jwks, jwks_uri, discovery_url, sealed_secret,
                provider, app_names, sealed_app_secret, audiences, algorithms, create_users, rules, client_id,
                sealed_client_secret, sign_in_name, scope, created_at, updated_at, guarded, signs_in_everywhere)
            VALUES (\(issuer.id), \(issuer.merchant), \(issuer.issuer), \(keys?.keySet), \(keys?.address),
                \(keys?.discovery), \(keys?.sealedSecret), \(issuer.app?.provider.rawValue),
                \(issuer.storedAppNames), \(issuer.app?.sealedSecret), \(issuer.storedAudiences),
                \(issuer.storedAlgorithms), \(issuer.createsUsers), \(issuer.storedRules),
                \(issuer.signIn?.clientID), \(issuer.signIn?.sealedClientSecret), \(issuer.signIn?.name),
                \(issuer.signIn?.scope), \(issuer.createdAt), \(issuer.updatedAt), \(issuer.isGuarded),
                \(issuer.signsInEverywhere))
            ON CONFLICT (issuer_id) DO NOTHING
            """)
    }

    static func update(_ issuer: TrustedIssuer, in db: any Transaction) throws -> Int {
        try Issuers.disable(issuer.id.text, since: issuer.disabledAt, in: db)
        let keys = issuer.storedKeys
        return try db.execute(
            """
            UPDATE issuer_settings SET jwks = \(keys?.keySet), jwks_uri = \(keys?.address),
                discovery_url = \(keys?.discovery), sealed_secret = \(keys?.sealedSecret),
                provider = \(issuer.app?.provider.rawValue), app_names = \(issuer.storedAppNames),
                sealed_app_secret = \(issuer.app?.sealedSecret), audiences = \(issuer.storedAudiences),
                algorithms = \(issuer.storedAlgorithms), create_users = \(issuer.createsUsers),
                rules = \(issuer.storedRules), client_id = \(issuer.signIn?.clientID),
                sealed_client_secret = \(issuer.signIn?.sealedClientSecret), sign_in_name = \(issuer.signIn?.name),
                scope = \(issuer.signIn?.scope), updated_at = \(issuer.updatedAt),
                guarded = \(issuer.isGuarded), signs_in_everywhere = \(issuer.signsInEverywhere)
            WHERE issuer_id = \(issuer.id)
            """)
    }
}

extension TrustedIssuer {
    package init(_ row: Row) throws {
        let app = try Self.app(row)
        guard let keys = try Self.keys(row) ?? app?.provider.keys else {
            throw StorageError.unreadable("issuer_settings: a row without keys")
        }
        let algorithms = Set(try Self.list(row, "algorithms").compactMap(SignatureAlgorithm.init))
        self.init(
            id: try row.get("id"), merchant: try row.get("merchant_id"), issuer: try row.get("issuer"),
            keys: keys, app: app, audiences: try Self.list(row, "audiences"),
            algorithms: algorithms.isEmpty ? app?.provider.algorithms ?? [] : algorithms,
            createsUsers: try row.get("create_users"),
            rules: try IssuerRules(stored: try row.get("rules"), over: app?.provider.rules ?? IssuerRules()),
            signIn: try Self.signIn(row), createdAt: try row.get("created_at"),
            updatedAt: try row.get("updated_at"), disabledAt: try row.get("disabled_at"),
            signsInEverywhere: try row.get("signs_in_everywhere"), wasGuarded: try row.get("guarded"))
    }

    /// Lists are stored one item a line: no audience, name or algorithm can contain a line feed.
    private static func list(_ row: Row, _ column: String) throws -> [String] {
        try row.get(column, as: String.self).split(separator: "\n").map(String.init)
    }

    private static func keys(_ row: Row) throws -> KeySource? {
        if let text = try row.get("jwks", as: String?.self) { return .keySet(text) }
        if let text = try row.get("jwks_uri", as: String?.self) { return .address(text) }
        if let text = try row.get("discovery_url", as: String?.self) { return .discovery(text) }
        return try row.get("sealed_secret", as: String?.self).map { .secret(sealed: $0) }
    }

    private static func app(_ row: Row) throws -> ProviderApp? {
        guard let name = try row.get("provider", as: String?.self) else { return nil }
        guard let provider = Provider(rawValue: name) else {
            throw StorageError.unreadable("issuer_settings: a provider that this version does not know")
        }
        return ProviderApp(
            provider: provider, names: try list(row, "app_names"), sealedSecret: try row.get("sealed_app_secret"))
    }

    private static func signIn(_ row: Row) throws -> SignInSettings? {
        guard let id = try row.get("client_id", as: String?.self) else { return nil }
        return SignInSettings(
            clientID: id, sealedClientSecret: try row.get("sealed_client_secret"),
            name: try row.get("sign_in_name"), scope: try row.get("scope"))
    }

    /// A provider's own keys are not stored: another version may find them at another address.
    fileprivate var storedKeys: KeySource? { hasProvidersKeys ? nil : keys }
    fileprivate var storedRules: String { JSON.object(rules.members).text }
    fileprivate var storedAppNames: String { (app?.names ?? []).joined(separator: "\n") }
    fileprivate var storedAudiences: String { audiences.joined(separator: "\n") }
    fileprivate var storedAlgorithms: String { algorithms.map(\.rawValue).sorted().joined(separator: "\n") }
}

extension TrustedIssuer.KeySource {
    fileprivate var keySet: String? { if case .keySet(let text) = self { text } else { nil } }
    fileprivate var address: String? { if case .address(let text) = self { text } else { nil } }
    fileprivate var discovery: String? { if case .discovery(let text) = self { text } else { nil } }
    fileprivate var sealedSecret: String? { if case .secret(let sealed) = self { sealed } else { nil } }
}

/// What we need to let users sign in at an issuer: we are a client of it.
public struct SignInSettings: Sendable, Equatable {
    /// Our client id there.
    public let clientID: String
    /// Our client secret there, sealed for the issuer's row. Nil for Facebook, which uses the secret of its app.
    public let sealedClientSecret: String?
    /// The name of the issuer for users: the text of the button.
    public let name: String
    /// The scope that we request.
    public let scope: String

    static let usualScope = "openid email profile"
    static let facebookScope = "public_profile email"
}
