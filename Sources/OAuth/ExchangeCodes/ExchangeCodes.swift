public import Cryptography
public import Directory
public import Keys
public import Storage
public import Values

/// Charges a user for a code in the transaction that stores it, or throws, so that no token or session can fill a
/// table. The text names the share that the code counts against (`Client.shareOfUser`): one merchant does not use up
/// what the user may have at others.
public typealias CodeCharge = @Sendable (UserID, String, Timestamp, any Transaction) throws -> Void

/// Sells exchange codes, and spends them. `ExchangeCode` says what they are bound to.
///
/// A session code is stored when it is sold, a code for a backend never.
public struct ExchangeCodes: Sendable {
    private let database: any Database
    private let clients: Clients
    private let accounts: SessionCodeAddresses
    private let seal: Seal
    private let clock: any WallClock
    private let random: any RandomSource
    private let charge: CodeCharge

    public init(
        database: any Database, clients: Clients, accounts: SessionCodeAddresses, seal: Seal, clock: any WallClock,
        random: any RandomSource, charge: @escaping CodeCharge
    ) {
        self.accounts = accounts
        self.database = database
        self.clients = clients
        self.seal = seal
        self.clock = clock
        self.random = random
        self.charge = charge
    }

    /// Sells `token` a code as `request` asks, and returns it with its kind, which tells its lifetime. Whether it may
    /// be spent is checked at redemption.
    public func issue(
        _ request: ExchangeRequest, for token: AccessToken
    ) async throws -> (code: Secret<ExchangeCode>, kind: ExchangeCode.Kind) {
        let receiver = try await clients.findLive(request.client, of: token.merchant)
        let buyer = token.isOfFrontChannel ? try await clients.findLive(token.client) : nil
        let scope = try request.check(token, of: buyer, receiver: receiver, accounts: accounts)
        guard let source = token.family, let path = token.path, let user = token.user else {
            throw OAuthError.userTokenNeeded
        }
        guard path.count < TokenFamily.Path.longest else { throw OAuthError.chainTooLong }
        let now = clock.now
        switch request.kind {
        case .code:
            let code = ExchangeCode(
                id: .ordered(at: now, from: random), source: source, client: request.client,
                subject: Subject(user: user, signedInAt: token.signedInAt), scope: scope,
                redirectURI: request.redirectURI.map(RedirectURI.init(stored:)))
            return (code.sealed(by: seal), .code)
        case .session:
            let code = Secret<ExchangeCode>.ordered(at: now, from: random)
            // Only a first-party client's token comes here.
            let share = token.clientKind.outboundShare
            try await database.write { [charge] db in
                try charge(user, share, now, db)
                try db.enqueue(
                    """
                    INSERT INTO exchange_codes (fingerprint, source_family_id, client_id, user_id, scope, redirect_uri,
                        state, expires_at)
                    VALUES (\(code.fingerprint), \(source), \(request.client), \(user), \(scope),
                        \(request.redirectURI), \(request.state), \(now + request.kind.lifetime))
                    ON CONFLICT (fingerprint) DO NOTHING
                    """)
            }
            return (code, .session)
        }
    }

    /// Whether `text` is a session code, which a backend cannot redeem: for the log.
    static func isForSession(_ text: String, in database: any Database) async throws -> Bool {
        let fingerprint = Secret<ExchangeCode>(text).fingerprint
        return try await !database.rows(
            "SELECT fingerprint FROM exchange_codes WHERE fingerprint = \(fingerprint)"
        ).isEmpty
    }

    /// Spends an unexpired session code, while the family that bought it, its client and its user live. The number of
    /// changed rows decides: of simultaneous attempts, one gets true.
    ///
    /// Everything that revokes access of the user or the app ends that family. Its row is held, so that nothing is
    /// stored for the code after its end.
    static func spendSession(
        _ fingerprint: Fingerprint<ExchangeCode>, for attempt: Attempt, in db: any Transaction
    ) throws -> Bool {
        let spent = try db.execute(
            """
            UPDATE exchange_codes SET spent_at = \(attempt.now), spent_by = \(attempt.id)
            WHERE fingerprint = \(fingerprint) AND spent_at IS NULL AND expires_at > \(attempt.now)
                AND EXISTS (SELECT 1 FROM token_families f \(Standing.whatTokensRestOn(of: "f"))
                    WHERE f.id = exchange_codes.source_family_id AND f.user_id = exchange_codes.user_id
                        AND \(ClientRight.buyCodes.held(by: "c")) AND \(Standing.ofFamily))
                AND NOT \(CodeEnds.condition(
                    user: "exchange_codes.user_id", client: "exchange_codes.client_id",
                    soldAt: "exchange_codes.expires_at - \(ExchangeCode.Kind.session.lifetime.milliseconds)"))
            """)
        guard spent == 1 else { return false }
        try db.hold(
            """
            UPDATE token_families SET ended_at = ended_at
            WHERE id = (SELECT source_family_id FROM exchange_codes WHERE fingerprint = \(fingerprint))
            """)
        return true
    }
}
