import Identity
import OAuth
import Storage
import Values

/// The claim on an assertion: it is used once, and its subject is still, or only now becomes, this person.
struct AssertionClaim: Claim {
    let assertion: Assertion
    let issuer: TrustedIssuer.ID
    let account: AccountID
    /// Whether the account is made by this claim.
    let isNewcomer: Bool

    /// Remembered a little beyond its end: the node that forgets it and the one that is asked have clocks of their own.
    private static let memory: Duration = .minutes(5)

    func win(_ attempt: Attempt, in db: any Transaction) throws -> ClaimOutcome {
        // Looked at before anything is written: what is answered with `.changed` is committed all the same.
        let linked = try IssuerSubjects.find(assertion.subject, of: issuer, in: db)?.account
        guard linked == account || (linked == nil && isNewcomer) else { return .changed }

        let rows = try db.execute(
            """
            INSERT INTO used_assertions (fingerprint, used_by, expires_at)
            VALUES (\(assertion.fingerprint), \(attempt.id), \(assertion.expiresAt + Self.memory))
            ON CONFLICT (fingerprint) DO NOTHING
            """)
        guard rows == 1 else {
            let usedBy: String? = try db.rows(
                "SELECT used_by FROM used_assertions WHERE fingerprint = \(assertion.fingerprint)"
            ).first?.get("used_by")
            return usedBy == attempt.id ? .wonBefore : .refused(.assertionReplayed)
        }
        if linked == nil {
            try Accounts.insertBlank(account, at: attempt.now, in: db)
            try IssuerSubjects.link(assertion.subject, of: issuer, to: account, at: attempt.now, in: db)
        }
        return .won
    }
}
