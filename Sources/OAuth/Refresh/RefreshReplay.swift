import Directory
import Storage
import Values

// When the use of a rotated refresh token is a replay, and what a replay does. `RefreshTokenGrant.authorize` decides.

extension RefreshToken {
    /// Whether its successor is in use, so that presenting this token shows a copy. Also true after it expired.
    var isReplaced: Bool { if case .confirmed = state { true } else { false } }

    /// Whether it was rotated too long ago for a lost response: the token is a copy, or comes from a phone that must
    /// sign in again anyway.
    func isTooLateToRepeat(at now: Timestamp, within window: Duration) -> Bool {
        guard case .rotated(let rotation) = state else { return false }
        return now - rotation.at > window
    }
}

extension Authorization {
    /// Whether it is a replay, which gives nothing and ends a family: no other check is needed.
    var isReplay: Bool { redemption is RefreshReplay }
}

/// Ends the family of a replayed token. Two parties hold copies of the chain, and it ends for both.
struct RefreshReplay: Redemption {
    let family: TokenFamily.ID
    /// For the log; nil when the token is forgotten.
    let user: UserID?

    func win(_ attempt: Attempt, in db: any Transaction) -> RedemptionOutcome {
        .replayed(.refreshRefused("refresh_token_replayed", "family=\(family)").of(user), ending: family)
    }
}
