import Directory
import Storage
import Values

/// Confirms that the user's e-mail address is verified, for clients that require it, whatever the grant.
struct VerifiedUserRedemption: Redemption {
    let redemption: any Redemption
    let user: UserID
    let refusal: OAuthError

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        let outcome = try redemption.win(attempt, in: db)
        switch outcome {
        case .won, .wonAgain: break
        case .wonBefore, .changed, .refused, .replayed: return outcome
        }
        // Asked afterwards, because the redemption may create the user. Thrown, so that nothing is committed: the code
        // or token can be used again once the address is verified.
        guard try !db.rows("SELECT id FROM users WHERE id = \(user) AND email_verified = 1").isEmpty else {
            throw refusal.of(user)
        }
        return outcome
    }
}

extension Authorization {
    /// The same authorization, won only for a user that its client accepts. A family that exists was checked when it
    /// began.
    func confirmingUser(by grant: GrantType) -> Authorization {
        guard client.requiresVerifiedEmail, let subject, case .new = family else { return self }
        return won(
            by: VerifiedUserRedemption(
                redemption: redemption, user: subject.user,
                refusal: grant == .tokenExchange ? .unverifiedSubject : .unverifiedUser))
    }
}
