import Authentication
import OAuth
import Storage
import Values

/// A redemption that signs a user in by an issuer's token and records the login in the same transaction.
struct RememberedRedemption: Redemption {
    let claim: any Redemption
    let user: UserID
    let login: Login.Attempt

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        let outcome = try claim.win(attempt, in: db)
        if case .won = outcome { try Logins.record(login, of: user, succeeded: true, at: attempt.now, in: db) }
        return outcome
    }
}
