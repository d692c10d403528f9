import Keys
import Storage
import Values

// What refreshing does to a stored token. RefreshReplay.swift says what a replay does; `RefreshTokenGrant` decides
// which of these a request gets.

/// Rotates a current token: stores its successor, and keeps it sealed beside the token until the rotation is confirmed.
struct RefreshRotation: Redemption {
    let token: RefreshToken
    let successor: Fingerprint<RefreshToken>
    let sealed: String
    /// Seals the successor.
    let seal: Seal
    let expiresAt: RefreshToken.Expiry
    /// Whether another tab may still present this token's predecessor.
    let isInLeeway: Bool

    /// Of two rotations one changes the row. The end of the family also ends a token that is stored at the same time.
    func isDecidedByOneRow(withNewFamily: Bool) -> Bool { !withNewFamily }

    func statements(_ attempt: Attempt) -> RedemptionStatements? {
        guard !attempt.isSampled, !token.movesFamily(to: expiresAt.family, at: attempt.now) else { return nil }
        return rotation(attempt)
    }

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        guard try rotation(attempt).win(in: db) else {
            try seal.confirm(in: db)
            let rotatedBy = try db.rows(
                "SELECT rotated_by FROM refresh_tokens WHERE fingerprint = \(token.fingerprint)"
            )
            .first.flatMap { try $0.get("rotated_by", as: String?.self) }
            return rotatedBy == attempt.id ? .wonBefore : .changed
        }
        try token.keepFamily(until: expiresAt.family, at: attempt.now, in: db)
        if attempt.isSampled { try RefreshTokens.forgetOldest(of: token.family, in: db) }
        return .won
    }

    private func rotation(_ attempt: Attempt) -> RedemptionStatements {
        .changing(
            first: change(attempt),
            decided: """
                EXISTS (SELECT 1 FROM refresh_tokens
                    WHERE fingerprint = \(token.fingerprint) AND rotated_by = \(attempt.id))
                """,
            next: { decided in following(attempt, decided) })
    }

    private func change(_ attempt: Attempt) -> SQL {
        """
        UPDATE refresh_tokens
        SET successor = \(successor), sealed_successor = \(sealed), rotated_at = \(attempt.now),
            rotated_by = \(attempt.id), latest_access_token = \(attempt.accessToken)
        WHERE fingerprint = \(token.fingerprint) AND rotated_at IS NULL AND expires_at > \(attempt.now)
            AND EXISTS (SELECT 1 FROM token_families f
                WHERE f.id = refresh_tokens.family_id AND f.ended_at IS NULL)
            AND \(seal.isConfirmed)
        """
    }

    private func following(_ attempt: Attempt, _ decided: SQL?) -> [SQL] {
        let stored: SQL = """
            INSERT INTO refresh_tokens (fingerprint, family_id, scope, predecessor, issued_at, expires_at)
            SELECT \(successor), \(token.family), \(token.scope), \(token.fingerprint),
                CAST(\(attempt.now) AS BIGINT), CAST(\(expiresAt.token) AS BIGINT)
            WHERE \(decided ?? .always)
            ON CONFLICT (fingerprint) DO NOTHING
            """
        // Presenting this token proves that the client received it.
        let confirmed = token.predecessor.map {
            RefreshTokens.confirmation(of: $0, at: attempt.now, isInLeeway: isInLeeway, when: decided)
        }
        return [stored] + (confirmed.map { [$0] } ?? [])
    }
}

/// Repeats the response of an unconfirmed rotation. The access token of the lost response ends.
///
/// Two parties that share a token and take turns look like this at every rotation; a bad connection loses a response
/// only now and then. So the third repeated rotation in a row ends the family. Repetitions of one rotation are limited,
/// because each changes the same row and the client's other requests wait for it.
struct RefreshRepeat: Redemption {
    let token: RefreshToken

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        let row = try db.rows(
            """
            SELECT r.latest_access_token, r.repeat_run, r.repeats, b.repeat_run AS run_before
            FROM refresh_tokens r
            JOIN token_families f ON f.id = r.family_id AND f.ended_at IS NULL
            LEFT JOIN refresh_tokens b ON b.fingerprint = r.predecessor
            WHERE r.fingerprint = \(token.fingerprint) AND r.rotated_at IS NOT NULL AND r.confirmed_at IS NULL
                AND r.expires_at > \(attempt.now)
            """
        ).first
        guard let lost = try row?.get("latest_access_token", as: Fingerprint<AccessToken>?.self) else {
            return .changed
        }
        guard lost != attempt.accessToken else { return .wonBefore }
        // Before anything is written. `authorize` has refused all but those that came at the same time.
        guard try row?.get("repeats", as: Int64.self) ?? 0 < RefreshToken.mostRepeats else {
            return .refused(.repeatedTooOften(token))
        }
        let before = try row?.get("run_before", as: Int64?.self) ?? 0
        // Repeating one rotation several times counts once.
        let run = max(try row?.get("repeat_run", as: Int64.self) ?? 0, before + 1)
        guard run < RefreshToken.longestRepeatRun else {
            return .replayed(
                .refreshRefused("refresh_token_in_two_hands", "family=\(token.family)"),
                ending: token.family)
        }
        try AccessTokens.end(lost, in: db)
        try db.execute(
            """
            UPDATE refresh_tokens SET latest_access_token = \(attempt.accessToken), repeat_run = \(run),
                repeats = repeats + 1
            WHERE fingerprint = \(token.fingerprint) AND confirmed_at IS NULL
            """)
        return .won
    }
}

/// Keeps a token that does not rotate: it must still be current, and its expiry slides.
struct RefreshWithoutRotation: Redemption {
    let token: RefreshToken
    let expiresAt: RefreshToken.Expiry

    /// Nothing is spent. The end of the family also ends a token that is stored at the same time.
    func isDecidedByOneRow(withNewFamily: Bool) -> Bool { !withNewFamily }

    func statements(_ attempt: Attempt) -> RedemptionStatements? {
        guard !slides(from: token.expiresAt, at: attempt.now), token.predecessor == nil,
            !token.movesFamily(to: expiresAt.family, at: attempt.now)
        else { return nil }
        return .storing(when: "EXISTS (\(token.ifCurrent(at: attempt.now)))")
    }

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        guard let current = try db.rows(token.ifCurrent(at: attempt.now)).first else { return .changed }
        if slides(from: try current.get("expires_at"), at: attempt.now) {
            try db.enqueue(
                "UPDATE refresh_tokens SET expires_at = \(expiresAt.token) WHERE fingerprint = \(token.fingerprint)")
        }
        try token.keepFamily(until: expiresAt.family, at: attempt.now, in: db)
        if let predecessor = token.predecessor {
            try db.enqueue(RefreshTokens.confirmation(of: predecessor, at: attempt.now, when: nil))
        }
        return .won
    }

    /// A slide of less than a hundredth of the lifetime is not worth a write to a cold page. It slides back when the
    /// client's lifetime has been shortened.
    private func slides(from until: Timestamp, at now: Timestamp) -> Bool {
        max(expiresAt.token - until, until - expiresAt.token) > (expiresAt.token - now) / 100
    }
}

extension RefreshToken {
    /// Selects its expiry, while it is current.
    func ifCurrent(at now: Timestamp) -> SQL {
        """
        SELECT r.expires_at FROM refresh_tokens r
        JOIN token_families f ON f.id = r.family_id AND f.ended_at IS NULL
        WHERE r.fingerprint = \(fingerprint) AND r.rotated_at IS NULL AND r.expires_at > \(now)
        """
    }

    /// Moves the end of the family along with its tokens. Again, a slide of less than a hundredth is not worth a write:
    /// `TokenFamilies.memory` allows for it.
    fileprivate func keepFamily(until end: Timestamp, at now: Timestamp, in db: any Transaction) throws {
        guard movesFamily(to: end, at: now) else { return }
        try db.enqueue("UPDATE token_families SET expires_at = \(end) WHERE id = \(family) AND expires_at < \(end)")
    }

    fileprivate func movesFamily(to end: Timestamp, at now: Timestamp) -> Bool {
        end - familyExpiresAt > (end - now) / 100
    }
}
