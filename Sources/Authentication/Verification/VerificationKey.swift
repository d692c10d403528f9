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

    /// Stores a draft for which no mail is sent, in place of the user's last one: nobody is charged for it, however
    /// often they sign in while they wait to be deleted.
    public func offerToRestore(_ draft: Draft) async throws {
        let (user, purpose) = (draft.verification.user, draft.verification.purpose.rawValue)
        try await database.write { db in
            try db.execute("DELETE FROM verifications WHERE user_id = \(user) AND purpose = \(purpose)")
            try Self.store(draft, in: db)
        }
    }

    /// Ends all open verifications of a user: the current holder of the password asked for none of them.
    static func endAll(of user: UserID, at now: Timestamp, in db: any Transaction) throws {
        try db.execute(
            "UPDATE verifications SET spent_at = \(now) WHERE user_id = \(user) AND spent_at IS NULL")
    }
}
