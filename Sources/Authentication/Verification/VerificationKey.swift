import Storage
public import Values

/// What a person brings back of a mail.
public enum VerificationKey: Sendable {
    /// The code they typed, in which browser.
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

    /// Stores a draft that no mail tells of.
    public func store(_ draft: Draft) async throws {
        try await database.write { db in try Self.store(draft, in: db) }
    }

    /// Ends what is still out for an account: whoever has the password now has asked for none of it.
    static func endAll(of user: UserID, at now: Timestamp, in db: any Transaction) throws {
        try db.execute(
            "UPDATE verifications SET spent_at = \(now) WHERE user_id = \(user) AND spent_at IS NULL")
    }
}
