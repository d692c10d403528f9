public import Directory
import Storage
public import Values

/// What a user returns from a mail.
public enum VerificationKey: Sendable {
    /// The typed code, and the browser it was typed in.
    case code(String, of: Verification.ID, in: Fingerprint<Browser>?)
    case link(Secret<Verification>)
}

extension Verifications {
    /// Takes the verification that `key` opens.
    func take(
        _ key: VerificationKey, _ purpose: Verification.Purpose, attempt: String, in db: any Transaction
    ) throws -> Result<Verification, Verification.Refusal> {
        switch key {
        case .code(let code, let id, let browser):
            try take(code: code, id: id, purpose: purpose, browser: browser, attempt: attempt, in: db)
        case .link(let link): try take(link: link, purpose, attempt: attempt, in: db)
        }
    }

    /// Stores an offer to `user`, in `browser`, to cancel the deletion, beside a few earlier ones that other tabs may
    /// show. No mail is sent, and the user is not charged, however often they sign in. Nil when the sign-in no longer
    /// counts.
    public func offerToRestore(
        _ user: LeavingUser, by method: SignIn.Method, of issuer: String?, in browser: Fingerprint<Browser>?,
        continueTo: String
    ) async throws -> Verification.ID? {
        let draft = draft(
            .restore, email: user.email, user: user.id, browser: browser, continueTo: continueTo, method: method,
            issuer: issuer)
        return try await database.write { db in
            guard try user.holds(in: db) else { return nil }
            return try Self.offer(draft, to: user, in: db)
        }
    }

    /// As above, for a user who has just typed a mailed code, in the transaction that took it with `attempt`.
    func offerToRestore(
        _ user: LeavingUser, after code: Verification, _ attempt: VerificationAttempt, in db: any Transaction
    ) throws -> Verification.ID {
        let draft = draft(
            .restore, id: attempt.offer, email: user.email, user: user.id, browser: code.browser,
            continueTo: code.continueTo, method: .mail)
        return try Self.offer(draft, to: user, in: db)
    }

    /// Whether that offer is still open.
    func isOffered(_ attempt: VerificationAttempt, in db: any Transaction) throws -> Bool {
        try !db.rows(
            """
            SELECT id FROM verifications
            WHERE id = \(attempt.offer) AND spent_at IS NULL AND expires_at > \(clock.now)
            """
        ).isEmpty
    }

    private static func offer(
        _ draft: Draft, to user: LeavingUser, in db: any Transaction
    ) throws -> Verification.ID {
        let purpose = Verification.Purpose.restore.rawValue
        try db.execute(
            """
            DELETE FROM verifications WHERE user_id = \(user.id) AND purpose = \(purpose) AND id NOT IN (
                SELECT id FROM verifications WHERE user_id = \(user.id) AND purpose = \(purpose)
                ORDER BY created_at DESC, id DESC LIMIT 9)
            """)
        try store(draft, in: db)
        return draft.verification.id
    }

    /// Ends all open verifications of a user: the current holder of the password asked for none of them.
    static func endAll(of user: UserID, at now: Timestamp, in db: any Transaction) throws {
        try db.execute(
            "UPDATE verifications SET spent_at = \(now) WHERE user_id = \(user) AND spent_at IS NULL")
    }

    /// Ends the pages that offer a user to keep the account.
    static func endOffers(to user: UserID, at now: Timestamp, in db: any Transaction) throws {
        try db.execute(
            """
            UPDATE verifications SET spent_at = \(now)
            WHERE user_id = \(user) AND purpose = \(Verification.Purpose.restore.rawValue) AND spent_at IS NULL
            """)
    }
}
