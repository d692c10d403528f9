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
            isByAnotherUser: false, asksConsent: false, answeredIn: nil, answers: .none, expiresAt: now + lifetime)
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
                SELECT browser, client_id, request, by_another_user, asks_consent, session, answers, expires_at
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
            INSERT INTO interactions (fingerprint, browser, client_id, request, by_another_user, asks_consent,
                expires_at)
            VALUES (\(interaction.id.fingerprint), \(interaction.browser), \(interaction.client),
                \(try stored(interaction, as: interaction.id, in: db)), 0, 0, \(interaction.expiresAt))
            ON CONFLICT (fingerprint) DO NOTHING
            """)
    }
}

extension Interaction {
    fileprivate init(_ id: ID, _ row: Row, opening: (String) -> String) throws {
        self.init(
            id: id, client: try row.get("client_id"), request: opening(try row.get("request")),
            browser: try row.get("browser"),
            isByAnotherUser: try row.get("by_another_user"), asksConsent: try row.get("asks_consent"),
            answeredIn: try row.get("session"), answers: try row.answers, expiresAt: try row.get("expires_at"))
    }
}

extension Row {
    fileprivate var answers: InteractionAnswers {
        get throws { try get("answers", as: String?.self).map(InteractionAnswers.init(stored:)) ?? .none }
    }
}

/// The steps that a user takes. Each is one update of the row, for its own browser only.
extension Interactions {
    /// Notes that `session` was just opened for the request, in the transaction that opens it.
    /// - Parameters: `target` is the id of `interaction`, or the id under which it continues in another browser.
    ///   `isSeen`: whether its user answered one of our pages about the request.
    public func signedIn(
        _ interaction: Interaction, as target: Interaction.ID, in browser: Fingerprint<Interaction.Browser>,
        session: Fingerprint<Session>, isSeen: Bool, trying trial: TokenTrial? = nil, at now: Timestamp,
        in db: any Transaction
    ) throws {
        if target.fingerprint != interaction.id.fingerprint {
            try db.execute(
                """
                INSERT INTO interactions (fingerprint, browser, client_id, request, by_another_user, asks_consent,
                    expires_at)
                VALUES (\(target.fingerprint), \(browser), \(interaction.client),
                    \(try stored(interaction, as: target, in: db)), \(interaction.isByAnotherUser), 0,
                    \(now + Interaction.lifetime))
                ON CONFLICT (fingerprint) DO NOTHING
                """)
        }
        let answers = InteractionAnswers(isSignedIn: true, seenAt: isSeen ? now : nil, trial: trial)
        try db.execute(
            """
            UPDATE interactions
            SET session = \(session), answers = \(answers.text), \(Self.renewed(target, at: now))
            WHERE fingerprint = \(target.fingerprint) AND browser = \(browser)
            """)
    }

    /// Notes that the user of `session` answered a page about the request.
    public func saw(_ interaction: Interaction, in session: Fingerprint<Session>) async throws {
        try await step(interaction, in: session) { _ in }
    }

    /// Notes that the user of `session` allowed `scope` of it. If asked twice, the last answer counts.
    public func allowed(_ scope: Scope, of interaction: Interaction, in session: Fingerprint<Session>) async throws {
        try await step(interaction, in: session, asksConsent: "0") { $0.allowed = scope }
    }

    /// Each step renews the time until the next one, within a limit. A mail that links back may have set a later end.
    private static func renewed(_ id: Interaction.ID, at now: Timestamp) -> SQL {
        let end = min(now + Interaction.lifetime, (id.fingerprint.time ?? now) + Interaction.longestLifetime)
        return "expires_at = CASE WHEN expires_at < \(end) THEN \(end) ELSE expires_at END"
    }

    /// Changes the answers of `session`, which begin anew where another session has answered.
    private func step(
        _ interaction: Interaction, in session: Fingerprint<Session>, asksConsent: SQL = "asks_consent",
        _ change: @escaping @Sendable (inout InteractionAnswers) -> Void
    ) async throws {
        let now = clock.now
        try await database.write { db in
            let found = try db.rows(
                """
                SELECT session, answers FROM interactions
                WHERE fingerprint = \(interaction.id.fingerprint) AND browser = \(interaction.browser)
                """
            ).first
            guard let found else { return }
            let isFirst = try found.get("session", as: Fingerprint<Session>?.self) != session
            var answers = try isFirst ? .none : found.answers
            answers.seenAt = now
            change(&answers)
            try db.execute(
                """
                UPDATE interactions
                SET session = \(session), answers = \(answers.text), asks_consent = \(asksConsent),
                    \(Self.renewed(interaction.id, at: now))
                WHERE fingerprint = \(interaction.id.fingerprint) AND browser = \(interaction.browser)
                """)
        }
    }

    /// Starts over for another user than the signed-in one. The link to this can be followed again and again, so a row
    /// that has already started over is not written again.
    public func passOn(_ interaction: Interaction) async throws -> Interaction? {
        guard interaction.mayPassOn else { return interaction }
        try await database.write { db in
            _ = try db.execute(
                """
                UPDATE interactions
                SET session = NULL, answers = NULL, by_another_user = 1
                WHERE fingerprint = \(interaction.id.fingerprint) AND browser = \(interaction.browser)
                    AND (by_another_user = 0 OR session IS NOT NULL)
                """)
        }
        return try await find(interaction.id, in: interaction.browser)
    }

    /// Requires consent in any case, because the user who answered is not the user who was asked.
    public func askAgain(_ interaction: Interaction) async throws {
        try await database.write { db in
            _ = try db.execute(
                """
                UPDATE interactions SET asks_consent = 1
                WHERE fingerprint = \(interaction.id.fingerprint) AND browser = \(interaction.browser)
                    AND asks_consent = 0
                """)
        }
    }

    /// Consumes what was done in `session` for a response, once. A user who returns by the back button or in another
    /// tab starts the request over. False when another tab was faster.
    public func answer(_ interaction: Interaction, in session: Fingerprint<Session>) async throws -> Bool {
        guard interaction.answeredIn == session else { return true }
        let attempt = Base64URL.encode(random.bytes(16))
        return try await database.write { db in
            let consumed = try db.execute(
                """
                UPDATE interactions
                SET session = NULL, answers = NULL, by_another_user = 0, asks_consent = 0, answered_by = \(attempt)
                WHERE fingerprint = \(interaction.id.fingerprint) AND session = \(session)
                """)
            guard consumed == 0 else { return true }
            // After a COMMIT of unknown outcome, this attempt may itself be the winner.
            let winner = try db.rows(
                "SELECT answered_by FROM interactions WHERE fingerprint = \(interaction.id.fingerprint)"
            ).first?.get("answered_by", as: String?.self)
            return winner == attempt
        }
    }
}

/// An app may send an ID token as `id_token_hint`, and that token is good elsewhere too. It is stored sealed under the
/// master key and the interaction's id, so that a copy of the database reveals none.
extension Interactions {
    private static let name = Parameter.idTokenHint.rawValue + "="

    /// The parameters of `interaction` in the form stored under `id`.
    func stored(_ interaction: Interaction, as id: Interaction.ID, in db: any Transaction) throws -> String {
        try Self.changingHint(of: interaction.request) { hint in
            try seal.confirm(in: db)
            return seal.seal(hint, .hint, of: id.value, row: id.fingerprint.text)
        }
    }

    /// The parameters that `stored` made of a request. A hint sealed under another master key stays sealed, and matches
    /// no user.
    func opened(_ stored: String, of id: Interaction.ID) -> String {
        Self.changingHint(of: stored) { hint in
            seal.open(hint, .hint, of: id.value, row: id.fingerprint.text) ?? hint
        }
    }

    /// A query with each `id_token_hint` replaced by the result of `change`. Values are percent-encoded.
    private static func changingHint(of query: String, _ change: (String) throws -> String) rethrows -> String {
        guard query.contains(name) else { return query }
        return try query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            pair.hasPrefix(name) ? name + (try change(String(pair.dropFirst(name.count)))) : String(pair)
        }.joined(separator: "&")
    }
}
