import JOSE
import OAuth
import Storage
import Values

extension TrustedIssuers {
    static let columns: SQL.Columns = """
        id, merchant_id, issuer, jwks, jwks_uri, sealed_secret, audiences, algorithms, create_users, created_at, \
        updated_at, disabled_at
        """

    static func insert(_ issuer: TrustedIssuer, in db: any Transaction) throws {
        try db.execute(
            """
            INSERT INTO issuers (id, merchant_id, issuer, jwks, jwks_uri, sealed_secret, audiences, algorithms,
                create_users, created_at, updated_at, disabled_at)
            VALUES (\(issuer.id), \(issuer.merchant), \(issuer.issuer), \(issuer.keys.keySet), \(issuer.keys.address),
                \(issuer.keys.sealedSecret), \(issuer.storedAudiences), \(issuer.storedAlgorithms),
                \(issuer.createsUsers), \(issuer.createdAt), \(issuer.updatedAt), \(issuer.disabledAt))
            ON CONFLICT (id) DO NOTHING
            """)
    }

    static func update(_ issuer: TrustedIssuer, in db: any Transaction) throws -> Int {
        try db.execute(
            """
            UPDATE issuers SET jwks = \(issuer.keys.keySet), jwks_uri = \(issuer.keys.address),
                sealed_secret = \(issuer.keys.sealedSecret), audiences = \(issuer.storedAudiences),
                algorithms = \(issuer.storedAlgorithms), create_users = \(issuer.createsUsers),
                updated_at = \(issuer.updatedAt), disabled_at = \(issuer.disabledAt)
            WHERE id = \(issuer.id)
            """)
    }
}

extension TrustedIssuer {
    init(_ row: Row) throws {
        self.init(
            id: try row.get("id"), merchant: try row.get("merchant_id"), issuer: try row.get("issuer"),
            keys: try KeySource(row), audiences: try Self.list(row, "audiences"),
            algorithms: Set(try Self.list(row, "algorithms").compactMap(SignatureAlgorithm.init)),
            createsUsers: try row.get("create_users"), createdAt: try row.get("created_at"),
            updatedAt: try row.get("updated_at"), disabledAt: try row.get("disabled_at"))
    }

    /// Lists are stored a line each: neither an audience nor an algorithm can hold a line feed.
    private static func list(_ row: Row, _ column: String) throws -> [String] {
        try row.get(column, as: String.self).split(separator: "\n").map(String.init)
    }

    fileprivate var storedAudiences: String { audiences.joined(separator: "\n") }
    fileprivate var storedAlgorithms: String { algorithms.map(\.rawValue).sorted().joined(separator: "\n") }
}

extension TrustedIssuer.KeySource {
    fileprivate init(_ row: Row) throws {
        if let text = try row.get("jwks", as: String?.self) {
            self = .keySet(text)
        } else if let text = try row.get("jwks_uri", as: String?.self) {
            self = .address(text)
        } else if let sealed = try row.get("sealed_secret", as: String?.self) {
            self = .secret(sealed: sealed)
        } else {
            throw StorageError.unreadable("issuers: a row without keys")
        }
    }

    fileprivate var keySet: String? { if case .keySet(let text) = self { text } else { nil } }
    fileprivate var address: String? { if case .address(let text) = self { text } else { nil } }
    fileprivate var sealedSecret: String? { if case .secret(let sealed) = self { sealed } else { nil } }
}
