import Directory
import JOSE
import JSON
import OAuth
package import Storage
import Values

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
