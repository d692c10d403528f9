import Directory
import Storage
import Values

// A refresh token that is used again after its rotation: when that is a replay, and what it does then. The decision is
// made in `RefreshTokenGrant.authorize`.

extension RefreshToken {
    /// Whether its successor is in use, so that whoever presents it has a copy. That counts also after it expired.
    var isReplaced: Bool { if case .confirmed = state { true } else { false } }

    /// Whether it was rotated too long ago for a lost response: it is a copy, or a phone that must sign in again
    /// anyway.
    func isTooLateToRepeat(at now: Timestamp, within window: Duration) -> Bool {
        guard case .rotated(let rotation) = state else { return false }
        return now - rotation.at > window
    }
}

extension Authorization {
    /// Whether it gives nothing, and ends a family: then nothing else is asked.
    var isReplay: Bool { claim is RefreshReplay }
}

/// Ends the family of a replayed token. Two parties hold copies of one chain, so it ends for both.
struct RefreshReplay: Redemption {
    let family: TokenFamily.ID

    func win(_ attempt: Attempt, in db: any Transaction) -> RedemptionOutcome {
        .replayed(.refreshRefused("refresh_token_replayed", "family=\(family)"), ending: family)
    }
}
