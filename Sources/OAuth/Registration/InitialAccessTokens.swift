import Audit
public import Cryptography
public import Directory
public import JSON
public import Storage
public import Values

/// A token with which clients of a merchant register themselves (RFC 7591 §1.2). It may be used often while it lives.
public struct InitialAccessToken: Sendable {
    public typealias ID = Identifier<InitialAccessToken>

    /// The default lifetime, and the longest one.
    public static let usualLife: Duration = .days(1)
    public static let longestLife: Duration = .days(365)
    /// How many clients may register with one token: at most, and by default.
    public static let mostRegistrations = 1000

    public let id: ID
    public let merchant: Merchant.ID
    public let registrations: Int
    public let maxRegistrations: Int
    public let createdAt: Timestamp
    public let expiresAt: Timestamp

    /// The JSON for the admin API. The token itself is shown once, when it is issued.
    public var json: JSON {
        .members([
            "id": .string(id.text), "merchant_id": .string(merchant.text),
            "registrations": .integer(Int64(registrations)),
            "max_registrations": .integer(Int64(maxRegistrations)), "created_at": .integer(createdAt.seconds),
            "expires_at": .integer(expiresAt.seconds),
        ])
    }
}

/// An authority that creates and deletes initial access tokens.
public protocol InitialAccessTokenAuthority: Authority {
    /// Throws unless it may create `token`, which is already stored.
    func permit(issuing token: InitialAccessToken, in db: any Transaction) throws
}

/// The stored initial access tokens.
public struct InitialAccessTokens: Sendable {
    private let database: any Database
    private let clock: any WallClock
    private let random: any RandomSource

    public init(database: any Database, clock: any WallClock, random: any RandomSource) {
        self.database = database
        self.clock = clock
        self.random = random
    }

    private static let columns: SQL.Columns = """
        initial_access_tokens.id, initial_access_tokens.merchant_id, initial_access_tokens.registrations, \
        initial_access_tokens.max_registrations, initial_access_tokens.created_at, initial_access_tokens.expires_at
        """

    /// Creates a token for `merchant`, with `expires_in` and `max_registrations` from `json`.
    public func issue(
        _ json: JSON, for merchant: Merchant.ID, by authority: some InitialAccessTokenAuthority
    ) async throws -> (token: InitialAccessToken, value: Secret<InitialAccessToken>) {
        let members = try JSONMembers(json)
        let life = try members.seconds("expires_in", within: 60...InitialAccessToken.longestLife.seconds)
        let most = try members.count("max_registrations", within: 1...InitialAccessToken.mostRegistrations)
        let now = clock.now
        let value = Secret<InitialAccessToken>.random(from: random)
        let token = InitialAccessToken(
            id: .ordered(at: now, from: random), merchant: merchant, registrations: 0,
            maxRegistrations: most ?? InitialAccessToken.mostRegistrations, createdAt: now,
            expiresAt: now + (life ?? InitialAccessToken.usualLife))
        let trail = AuditTrail(by: authority.actor, at: now, random: random)
        try await database.write { db in
            try authority.confirm(in: db)
            try Merchants.confirm(merchant, in: db)
            _ = try db.execute(
                """
                INSERT INTO initial_access_tokens (id, fingerprint, merchant_id, max_registrations, created_at,
                    expires_at)
                VALUES (\(token.id), \(value.fingerprint), \(merchant), \(token.maxRegistrations), \(now),
                    \(token.expiresAt))
                ON CONFLICT (id) DO NOTHING
                """)
            try authority.permit(issuing: token, in: db)
            try trail.record(
                "initial_access_token.created", on: Party(.initialAccessToken, token.id.text),
                merchant: merchant.text, after: token.json, in: db)
        }
        return (token, value)
    }

    /// How many tokens a merchant may make itself. Expired ones count until the next sweep.
    public static let mostOfMerchant = 1000

    /// Whether `merchant` has at most that many tokens, including the one just stored.
    public static func hasRoom(_ merchant: Merchant.ID, in db: any Transaction) throws -> Bool {
        try db.rows(
            """
            SELECT id FROM initial_access_tokens WHERE merchant_id = \(merchant)
            ORDER BY id LIMIT 1 OFFSET \(mostOfMerchant)
            """
        ).isEmpty
    }

    /// The live token for `value`, of a merchant that is not disabled.
    func present(_ value: Secret<InitialAccessToken>) async throws -> InitialAccessToken {
        let now = clock.now
        let token = try await database.read { db in
            try db.rows(
                """
                SELECT \(Self.columns) FROM initial_access_tokens
                JOIN merchants ON merchants.id = initial_access_tokens.merchant_id
                WHERE initial_access_tokens.fingerprint = \(value.fingerprint) AND merchants.disabled_at IS NULL
                """
            ).first.map(InitialAccessToken.init)
        }
        guard let token else { throw OAuthError.tokenRefused("unknown_initial_token") }
        guard now < token.expiresAt else { throw OAuthError.tokenRefused("expired_token") }
        return token
    }

    /// Counts a registration. Throws when `token` is used up, or when it was deleted or its merchant disabled
    /// meanwhile.
    static func use(_ token: InitialAccessToken.ID, in db: any Transaction) throws {
        let row = try db.rows(
            """
            SELECT initial_access_tokens.id FROM initial_access_tokens
            JOIN merchants ON merchants.id = initial_access_tokens.merchant_id
            WHERE initial_access_tokens.id = \(token) AND merchants.disabled_at IS NULL
            """
        ).first
        guard row != nil else { throw OAuthError.tokenRefused("unknown_initial_token") }
        let counted = try db.execute(
            """
            UPDATE initial_access_tokens SET registrations = registrations + 1
            WHERE id = \(token) AND registrations < max_registrations
            """)
        guard counted == 1 else { throw OAuthError.registrationsExhausted }
    }

    public func find(_ id: InitialAccessToken.ID) async throws -> InitialAccessToken? {
        try await database.read { db in
            try db.rows("SELECT \(Self.columns) FROM initial_access_tokens WHERE id = \(id)").first
                .map(InitialAccessToken.init)
        }
    }

    /// At most `count` tokens whose id is after `cursor`; of one merchant, or of all when nil.
    public func list(
        of merchant: Merchant.ID?, after cursor: String, count: Int
    ) async throws -> [InitialAccessToken] {
        try await database.scan(for: .of(merchant)) { db in
            let rows =
                if let merchant {
                    try db.rows(
                        """
                        SELECT \(Self.columns) FROM initial_access_tokens
                        WHERE merchant_id = \(merchant) AND id > \(cursor) ORDER BY id LIMIT \(count)
                        """)
                } else {
                    try db.rows(
                        """
                        SELECT \(Self.columns) FROM initial_access_tokens
                        WHERE id > \(cursor) ORDER BY id LIMIT \(count)
                        """)
                }
            return try rows.map(InitialAccessToken.init)
        }
    }

    /// Deletes a token. Clients that registered with it remain.
    public func delete(_ id: InitialAccessToken.ID, by authority: some InitialAccessTokenAuthority) async throws {
        let trail = AuditTrail(by: authority.actor, at: clock.now, random: random)
        try await database.write { db in
            try authority.confirm(in: db)
            let token = try db.rows("SELECT \(Self.columns) FROM initial_access_tokens WHERE id = \(id)").first
                .map(InitialAccessToken.init)
            guard let token else { return }
            try trail.record(
                "initial_access_token.deleted", on: Party(.initialAccessToken, id.text),
                merchant: token.merchant.text, before: token.json, in: db)
            try db.execute("DELETE FROM initial_access_tokens WHERE id = \(id)")
        }
    }
}

extension InitialAccessToken {
    init(_ row: Row) throws {
        self.init(
            id: try row.get("id"), merchant: try row.get("merchant_id"),
            registrations: try row.get("registrations"), maxRegistrations: try row.get("max_registrations"),
            createdAt: try row.get("created_at"), expiresAt: try row.get("expires_at"))
    }
}
