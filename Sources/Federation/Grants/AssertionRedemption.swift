import Authentication
import OAuth
import Storage
import Values

/// Redeems an assertion: it is used once, and its user is still the one that was found, or is linked or created now.
struct AssertionRedemption: Redemption {
    let assertion: Assertion
    let users: IssuerUsers
    /// The user that was found, and the user that the tokens are issued to.
    let finding: IssuerUsers.Finding
    let user: UserID
    var use = AssertionUse.assertion

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        // Checked before anything is written, because an attempt that ends in `.changed` is committed too.
        guard try TrustedIssuers.stands(assertion.issuerUser.issuer, in: db) else { return .changed }
        let found = try users.find(assertion.issuerUser, in: db)
        guard found == finding || found == .known(user) else { return .changed }

        for fingerprint in assertion.fingerprints {
            switch try ReplayMemory.use(fingerprint, by: attempt.id, until: assertion.expiresAt, in: db) {
            case .first: break
            case .usedBefore: return .wonBefore
            case .usedByAnother: return .refused(use.refusal(.assertionReplayed))
            }
        }
        do {
            _ = try users.resolve(assertion.issuerUser, newcomer: user, at: attempt.now, in: db)
        } catch let refusal as Users.TooManyNew {
            // Thrown, so that nothing is committed: the same assertion can be used after the wait.
            throw OAuthError.tooManyUsers(refusal.wait)
        }
        return .won
    }
}

/// How an issuer's token is presented. Each of the two grants has its own error for a refusal.
enum AssertionUse: Sendable {
    /// RFC 7523 §3.1: `invalid_grant`.
    case assertion
    /// RFC 8693 §2.2.2: `invalid_request`.
    case subjectToken

    var parameter: Parameter {
        switch self {
        case .assertion: .assertion
        case .subjectToken: .subjectToken
        }
    }

    func refusal(_ refusal: OAuthError) -> OAuthError {
        guard self == .subjectToken, refusal.code == .invalidGrant else { return refusal }
        return OAuthError(
            .invalidRequest, refusal.reason,
            refusal.hint.replacing("The assertion was refused:", with: "The subject_token was refused:"),
            detail: refusal.detail, retryAfter: refusal.retryAfter, userFault: refusal.userFault)
    }
}

/// A redemption that signs a user in by an issuer's token and records the login in the same transaction.
struct RememberedRedemption: Redemption {
    let redemption: any Redemption
    let user: UserID
    let login: Login.Attempt

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        let outcome = try redemption.win(attempt, in: db)
        if case .won = outcome { try Logins.record(login, of: user, succeeded: true, at: attempt.now, in: db) }
        return outcome
    }
}
