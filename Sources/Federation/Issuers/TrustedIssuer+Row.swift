import JOSE
import OAuth
import Storage
import Values

extension TrustedIssuers {
    static let columns: SQL.Columns = """
        id, merchant_id, issuer, jwks, jwks_uri, sealed_secret, provider, app_names, sealed_app_secret, audiences, \
        algorithms, create_users, created_at, updated_at, disabled_at
        """

    static func insert(_ issuer: TrustedIssuer, in db: any Transaction) throws {
        try db.execute(
            """
            INSERT INTO issuers (id, merchant_id, issuer, jwks, jwks_uri, sealed_secret, provider, app_names,
                sealed_app_secret, audiences, algorithms, create_users, created_at, updated_at, disabled_at)
            VALUES (\(issuer.id), \(issuer.merchant), \(issuer.issuer), \(issuer.keys?.keySet), \(issuer.keys?.address),
                \(issuer.keys?.sealedSecret), \(issuer.app?.provider.rawValue), \(issuer.storedAppNames),
                \(issuer.app?.sealedSecret), \(issuer.storedAudiences), \(issuer.storedAlgorithms),
                \(issuer.createsUsers), \(issuer.createdAt), \(issuer.updatedAt), \(issuer.disabledAt))
            ON CONFLICT (id) DO NOTHING
            """)
    }

    static func update(_ issuer: TrustedIssuer, in db: any Transaction) throws -> Int {
        try db.execute(
            """
            UPDATE issuers SET jwks = \(issuer.keys?.keySet), jwks_uri = \(issuer.keys?.address),
                sealed_secret = \(issuer.keys?.sealedSecret), provider = \(issuer.app?.provider.rawValue),
                app_names = \(issuer.storedAppNames), sealed_app_secret = \(issuer.app?.sealedSecret), audiences = \(issuer.storedAudiences),
                algorithms = \(issuer.storedAlgorithms), create_users = \(issuer.createsUsers),
                updated_at = \(issuer.updatedAt), disabled_at = \(issuer.disabledAt)
            WHERE id = \(issuer.id)
            """)
    }
}

extension TrustedIssuer {
    init(_ row: Row) throws {
        let keys = try Self.keys(row)
        let app = try Self.app(row)
        guard keys != nil || app != nil else { throw StorageError.unreadable("issuers: a row without keys") }
        self.init(
            id: try row.get("id"), merchant: try row.get("merchant_id"), issuer: try row.get("issuer"),
            keys: keys, app: app, audiences: try Self.list(row, "audiences"),
            algorithms: Set(try Self.list(row, "algorithms").compactMap(SignatureAlgorithm.init)),
            createsUsers: try row.get("create_users"), createdAt: try row.get("created_at"),
            updatedAt: try row.get("updated_at"), disabledAt: try row.get("disabled_at"))
    }

    /// Lists are stored a line each: neither an audience, a name nor an algorithm can hold a line feed.
    private static func list(_ row: Row, _ column: String) throws -> [String] {
        try row.get(column, as: String.self).split(separator: "\n").map(String.init)
    }

    private static func keys(_ row: Row) throws -> KeySource? {
        if let text = try row.get("jwks", as: String?.self) { return .keySet(text) }
        if let text = try row.get("jwks_uri", as: String?.self) { return .address(text) }
        return try row.get("sealed_secret", as: String?.self).map { .secret(sealed: $0) }
    }

    private static func app(_ row: Row) throws -> ProviderApp? {
        guard let name = try row.get("provider", as: String?.self) else { return nil }
        guard let provider = Provider(rawValue: name) else {
            throw StorageError.unreadable("issuers: a provider that this version does not know")
        }
        return ProviderApp(
            provider: provider, names: try list(row, "app_names"), sealedSecret: try row.get("sealed_app_secret"))
    }

    fileprivate var storedAppNames: String { (app?.names ?? []).joined(separator: "\n") }
    fileprivate var storedAudiences: String { audiences.joined(separator: "\n") }
    fileprivate var storedAlgorithms: String { algorithms.map(\.rawValue).sorted().joined(separator: "\n") }
}

extension TrustedIssuer.KeySource {
    fileprivate var keySet: String? { if case .keySet(let text) = self { text } else { nil } }
    fileprivate var address: String? { if case .address(let text) = self { text } else { nil } }
    fileprivate var sealedSecret: String? { if case .secret(let sealed) = self { sealed } else { nil } }
}
