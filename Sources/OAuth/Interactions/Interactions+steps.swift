import Cryptography
public import Directory
public import Storage
public import Values

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
                INSERT INTO interactions (fingerprint, browser, client_id, request, signed_in, by_somebody_else,
                    asks_consent, expires_at)
                VALUES (\(target.fingerprint), \(browser), \(interaction.client),
                    \(try stored(interaction, as: target, in: db)), 0,
                    \(interaction.progress.isByAnotherUser), 0, \(now + Interaction.lifetime))
                ON CONFLICT (fingerprint) DO NOTHING
                """)
        }
        try db.execute(
            """
            UPDATE interactions
            SET session = \(session), signed_in = 1, seen_at = \(isSeen ? now : nil), allowed = NULL,
                trial = \(trial?.text), \(Self.renewed(target, at: now))
            WHERE fingerprint = \(target.fingerprint) AND browser = \(browser)
            """)
    }

    /// Notes that the user of `session` answered a page about the request.
    public func saw(_ interaction: Interaction, in session: Fingerprint<Session>) async throws {
        let now = clock.now
        try await step(interaction, in: session) { db in
            try db.execute(
                """
                UPDATE interactions SET seen_at = \(now), \(Self.renewed(interaction.id, at: now))
                WHERE fingerprint = \(interaction.id.fingerprint) AND session = \(session)
                """)
        }
    }

    /// Notes that the user of `session` allowed `scope` of it. If asked twice, the last answer counts.
    public func allowed(_ scope: Scope, of interaction: Interaction, in session: Fingerprint<Session>) async throws {
        let now = clock.now
        try await step(interaction, in: session) { db in
            try db.execute(
                """
                UPDATE interactions
                SET seen_at = \(now), allowed = \(scope), asks_consent = 0, \(Self.renewed(interaction.id, at: now))
                WHERE fingerprint = \(interaction.id.fingerprint) AND session = \(session)
                """)
        }
    }

    /// Each step renews the time until the next one, within a limit. A mail that links back may have set a later end.
    private static func renewed(_ id: Interaction.ID, at now: Timestamp) -> SQL {
        let end = min(now + Interaction.lifetime, (id.fingerprint.time ?? now) + Interaction.longestLifetime)
        return "expires_at = CASE WHEN expires_at < \(end) THEN \(end) ELSE expires_at END"
    }

    /// Does `work` once the row belongs to `session`. Answers given in another session are cleared first.
    private func step(
        _ interaction: Interaction, in session: Fingerprint<Session>,
        _ work: @escaping @Sendable (any Transaction) throws -> Int
    ) async throws {
        try await database.write { db in
            try db.execute(
                """
                UPDATE interactions
                SET session = \(session), signed_in = 0, seen_at = NULL, allowed = NULL, trial = NULL
                WHERE fingerprint = \(interaction.id.fingerprint) AND browser = \(interaction.browser)
                    AND (session IS NULL OR session <> \(session))
                """)
            _ = try work(db)
        }
    }

    /// Starts over for another user than the signed-in one. The link to this can be followed again and again, so a row
    /// that has already started over is not written again.
    public func passOn(_ interaction: Interaction) async throws -> Interaction? {
        guard interaction.progress.mayPassOn else { return interaction }
        try await database.write { db in
            _ = try db.execute(
                """
                UPDATE interactions
                SET session = NULL, signed_in = 0, seen_at = NULL, allowed = NULL, trial = NULL,
                    by_somebody_else = 1
                WHERE fingerprint = \(interaction.id.fingerprint) AND browser = \(interaction.browser)
                    AND (by_somebody_else = 0 OR session IS NOT NULL)
                """)
        }
        return try await find(interaction.id, in: interaction.browser)
    }

    /// Requires consent in any case, because the user who answered is not the user who was asked.
    public func askAgain(_ interaction: Interaction) async throws {
        try await database.write { db in
            _ = try db.execute(
                """
                UPDATE interactions SET asks_consent = 1, allowed = NULL
                WHERE fingerprint = \(interaction.id.fingerprint) AND browser = \(interaction.browser)
                    AND (asks_consent = 0 OR allowed IS NOT NULL)
                """)
        }
    }

    /// Consumes what was done in `session` for a response, once. A user who returns by the back button or in another
    /// tab starts the request over. False when another tab was faster.
    public func answer(_ interaction: Interaction, in session: Fingerprint<Session>) async throws -> Bool {
        guard interaction.progress.counted(in: session).session != nil else { return true }
        let attempt = Base64URL.encode(random.bytes(16))
        return try await database.write { db in
            let consumed = try db.execute(
                """
                UPDATE interactions
                SET session = NULL, signed_in = 0, seen_at = NULL, allowed = NULL, trial = NULL,
                    by_somebody_else = 0, asks_consent = 0, answered_by = \(attempt)
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
