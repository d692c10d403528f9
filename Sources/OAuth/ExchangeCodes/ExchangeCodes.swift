public import Cryptography
public import Directory
public import Storage
public import Values

/// The stored exchange codes. How long they live and what they are bound to stands in `ExchangeCode`.
public struct ExchangeCodes: Sendable {
    private let database: any Database
    private let clients: Clients
    private let accounts: AccountAddresses
    private let clock: any WallClock
    private let random: any RandomSource

    public init(
        database: any Database, clients: Clients, accounts: AccountAddresses, clock: any WallClock,
        random: any RandomSource
    ) {
        self.accounts = accounts
        self.database = database
        self.clients = clients
        self.clock = clock
        self.random = random
    }

    /// Sells `token` a code as `request` asks, and returns it with its kind, which tells its lifetime.
    public func issue(
        _ request: ExchangeRequest, for token: AccessToken
    ) async throws -> (code: Secret<ExchangeCode>, kind: ExchangeCode.Kind) {
        let receiver = try await clients.findLive(request.client, of: token.merchant)
        let buyer = token.isOfFrontChannel ? try await clients.findLive(token.client) : nil
        let scope = try request.check(token, of: buyer, receiver: receiver, accounts: accounts)
        guard let source = token.family, let user = token.user else { throw OAuthError.userTokenNeeded }
        let now = clock.now
        let code = Secret<ExchangeCode>.ordered(at: now, from: random)
        let expiresAt = now + request.kind.lifetime
        // Whether it may be spent is asked when it is (`spend`).
        try await database.change(
            """
            INSERT INTO exchange_codes (fingerprint, type, source_family_id, client_id, user_id, scope,
                redirect_uri, state, signed_in_at, expires_at)
            VALUES (\(code.fingerprint), \(request.kind.rawValue), \(source), \(request.client), \(user),
                \(scope), \(request.redirectURI), \(request.state), \(token.signedInAt), \(expiresAt))
            ON CONFLICT (fingerprint) DO NOTHING
            """)
        return (code, request.kind)
    }

    static func find(
        _ fingerprint: Fingerprint<ExchangeCode>, in database: any Database
    ) async throws -> ExchangeCode? {
        try await database.rows(
            """
            SELECT type, source_family_id, client_id, user_id, scope, redirect_uri, signed_in_at, expires_at
            FROM exchange_codes WHERE fingerprint = \(fingerprint)
            """
        ).first.map(ExchangeCode.init)
    }

    /// Spends a code that has not expired, while the token family that bought it, its client and its user live. The
    /// number of changed rows decides: of any number of simultaneous attempts, one gets true.
    ///
    /// Whatever takes access from the user or the app ends that family, so its row is held: what is stored for the code
    /// cannot outlive an end at the same time.
    static func spend(
        _ fingerprint: Fingerprint<ExchangeCode>, for attempt: Attempt, in db: any Transaction
    ) throws -> Bool {
        let isSpent = try db.execute(spending(fingerprint, for: attempt)) == 1
        if isSpent { try db.hold(holdingSource(of: fingerprint, when: .always)) }
        return isSpent
    }

    static func spending(_ fingerprint: Fingerprint<ExchangeCode>, for attempt: Attempt) -> SQL {
        """
        UPDATE exchange_codes
        SET spent_at = \(attempt.now), spent_by = \(attempt.id), family_id = \(attempt.family)
        WHERE fingerprint = \(fingerprint) AND spent_at IS NULL AND expires_at > \(attempt.now)
            AND EXISTS (SELECT 1 FROM token_families p
                JOIN clients c ON c.id = p.client_id LEFT JOIN merchants m ON m.id = c.merchant_id
                WHERE p.id = exchange_codes.source_family_id AND p.ended_at IS NULL
                    AND c.disabled_at IS NULL AND m.disabled_at IS NULL)
            AND EXISTS (SELECT 1 FROM users a
                WHERE a.id = exchange_codes.user_id AND a.disabled_at IS NULL)
        """
    }

    static func holdingSource(of fingerprint: Fingerprint<ExchangeCode>, when condition: SQL) -> SQL {
        """
        UPDATE token_families SET ended_at = ended_at
        WHERE id = (SELECT source_family_id FROM exchange_codes WHERE fingerprint = \(fingerprint)) AND \(condition)
        """
    }
}

extension ExchangeCode {
    fileprivate init(_ row: Row) throws {
        guard let kind = Kind(rawValue: try row.get("type")) else {
            throw StorageError.unreadable("exchange_codes.type")
        }
        self.init(
            kind: kind, source: try row.get("source_family_id"), client: try row.get("client_id"),
            subject: Subject(user: try row.get("user_id"), signedInAt: try row.get("signed_in_at")),
            scope: try row.get("scope"),
            redirectURI: try row.get("redirect_uri", as: String?.self).map(RedirectURI.init(stored:)),
            expiresAt: try row.get("expires_at"))
    }
}
