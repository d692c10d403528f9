public import Cryptography
public import Directory
public import Keys
public import Storage
public import Values

/// The stored interactions.
public struct Interactions: Sendable {
    let database: any Database
    let seal: Seal
    let clock: any WallClock
    let random: any RandomSource

    public init(database: any Database, seal: Seal, clock: any WallClock, random: any RandomSource) {
        self.database = database
        self.seal = seal
        self.clock = clock
        self.random = random
    }

    /// The result of beginning an interaction.
    public enum Beginning: Sendable {
        case begun(Interaction)
        /// Too many began recently from the same origin.
        case wait(Duration)
    }

    /// Begins an interaction for a request of `client`, in `browser` if that is known yet.
    ///
    /// - Parameters:
    ///   - lifetime: how long it can be taken up.
    ///   - charge: counts it against its origin in the same transaction, or returns how long to wait.
    public func begin(
        _ request: String, of client: Client.ID, in browser: Fingerprint<Interaction.Browser>?,
        lifetime: Duration = Interaction.untouchedLifetime,
        charge: @escaping @Sendable (any Transaction, Timestamp) throws -> Duration? = { _, _ in nil }
    ) async throws -> Beginning {
        let now = clock.now
        let interaction = draft(request, of: client, in: browser, lifetime: lifetime)
        let wait = try await database.write { db -> Duration? in
            if let wait = try charge(db, now) { return wait }
            if let browser { try Self.makeRoom(in: browser, db) }
            try store(interaction, in: db)
            return nil
        }
        return wait.map { .wait($0) } ?? .begun(interaction)
    }

    /// An interaction that is not stored yet. `store` does that.
    public func draft(
        _ request: String, of client: Client.ID, in browser: Fingerprint<Interaction.Browser>?, lifetime: Duration
    ) -> Interaction {
        let now = clock.now
        return Interaction(
            id: .ordered(at: now, from: random), client: client, request: request, browser: browser,
            progress: .none, expiresAt: now + lifetime)
    }

    /// The interaction if it may be used in `browser`; nil when unknown, expired or another browser's.
    public func find(
        _ id: Interaction.ID, in browser: Fingerprint<Interaction.Browser>?
    ) async throws -> Interaction? {
        try await find(id).flatMap { $0.isOf(browser) ? $0 : nil }
    }

    /// The interaction in any browser: the caller checks the browser, or the user has the secret of a mail.
    public func find(_ id: Interaction.ID) async throws -> Interaction? {
        let now = clock.now
        let begun = id.fingerprint.time ?? now
        let found = try await database.read { db in
            // If the client has become first-party or a third party's since, its pages showed the former state.
            try db.rows(
                """
                SELECT browser, client_id, request, session, signed_in, seen_at, allowed, trial,
                    by_somebody_else, asks_consent, expires_at
                FROM interactions WHERE fingerprint = \(id.fingerprint)
                    AND NOT EXISTS (SELECT 1 FROM clients c
                        WHERE c.id = interactions.client_id AND c.first_party_changed_at > \(begun))
                """
            ).first.map { try Interaction(id, $0) { opened($0, of: id) } }
        }
        return found.flatMap { now < $0.expiresAt ? $0 : nil }
    }

    /// Binds an interaction that no browser has taken up to `browser`; nil when another browser was faster.
    public func bind(
        _ interaction: Interaction, to browser: Fingerprint<Interaction.Browser>
    ) async throws -> Interaction? {
        let isBound = try await database.write { db in
            try Self.makeRoom(in: browser, db)
            return try db.execute(
                """
                UPDATE interactions SET browser = \(browser)
                WHERE fingerprint = \(interaction.id.fingerprint) AND (browser IS NULL OR browser = \(browser))
                """) == 1
        }
        var bound = interaction
        bound.browser = browser
        return isBound ? bound : nil
    }

    /// Keeps it for at least `duration` from now, because a mail links back to it. Runs in the transaction that queues
    /// the mail, and so after that was charged: kept rows are exempt from the limit on all rows.
    public func keep(_ interaction: Interaction, for duration: Duration, in db: any Transaction) throws {
        let expiresAt = clock.now + duration
        guard interaction.expiresAt < expiresAt else { return }
        try db.execute(
            """
            UPDATE interactions SET expires_at = \(expiresAt)
            WHERE fingerprint = \(interaction.id.fingerprint) AND expires_at < \(expiresAt)
            """)
    }

    /// A second id for `interaction` in another browser: a new one, or the id of `secret`, which begins with the same
    /// time.
    public func another(of interaction: Interaction, by secret: Secret<Interaction>?) -> Interaction.ID {
        guard let secret else { return .ordered(at: clock.now, from: random) }
        return Interaction.ID(interaction.id.value.prefix(12) + secret.value)
    }

    /// Deletes the oldest rows of `browser`, to make room for one more.
    private static func makeRoom(in browser: Fingerprint<Interaction.Browser>, _ db: any Transaction) throws {
        try db.execute(
            """
            DELETE FROM interactions WHERE fingerprint IN (
                SELECT fingerprint FROM interactions WHERE browser = \(browser)
                ORDER BY fingerprint DESC LIMIT \(100) OFFSET \(Interaction.mostOfBrowser - 1))
            """)
    }

    /// Stores a draft in the caller's transaction, in which its sender was charged.
    public func store(_ interaction: Interaction, in db: any Transaction) throws {
        try db.execute(
            """
            INSERT INTO interactions (fingerprint, browser, client_id, request, signed_in, by_somebody_else,
                asks_consent, expires_at)
            VALUES (\(interaction.id.fingerprint), \(interaction.browser), \(interaction.client),
                \(try stored(interaction, as: interaction.id, in: db)), 0, 0, 0, \(interaction.expiresAt))
            ON CONFLICT (fingerprint) DO NOTHING
            """)
    }
}

extension Interaction {
    fileprivate init(_ id: ID, _ row: Row, opening: (String) -> String) throws {
        self.init(
            id: id, client: try row.get("client_id"), request: opening(try row.get("request")),
            browser: try row.get("browser"),
            progress: InteractionProgress(
                session: try row.get("session"), isSignedIn: try row.get("signed_in"),
                seenAt: try row.get("seen_at"), allowed: try row.get("allowed"),
                trial: try row.get("trial", as: String?.self).flatMap(TokenTrial.init(stored:)),
                isByAnotherUser: try row.get("by_somebody_else"), asksConsent: try row.get("asks_consent")),
            expiresAt: try row.get("expires_at"))
    }
}
