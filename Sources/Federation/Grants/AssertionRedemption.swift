import OAuth
import Storage
import Values

/// The claim on an assertion: it is used once, and its person is still who was found, or becomes it only now.
struct AssertionRedemption: Redemption {
    let assertion: Assertion
    let people: IssuerUsers
    /// What was found out about the person, and the account that the tokens are made for.
    let finding: IssuerUsers.Finding
    let user: UserID
    var use = AssertionUse.assertion

    /// Remembered a little beyond its end: the node that forgets it and the one that is asked have clocks of their own.
    private static let memory: Duration = .minutes(5)

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        // Looked at before anything is written: what is answered with `.changed` is committed all the same.
        guard try TrustedIssuers.stands(assertion.person.issuer, in: db) else { return .changed }
        let found = try people.find(assertion.person, in: db)
        guard found == finding || found == .known(user) else { return .changed }

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
            return usedBy == attempt.id ? .wonBefore : .refused(use.refusal(.assertionReplayed))
        }
        _ = try people.resolve(assertion.person, newcomer: user, at: attempt.now, in: db)
        return .won
    }
}
