import Directory
import Values

/// A refresh token and where it stands in its chain.
public struct RefreshToken: Sendable {
    /// Made wrong states unsayable: a confirmed rotation has no successor left to hand out.
    enum State: Sendable {
        case current
        /// Rotated, but nobody has shown yet to have received the answer: the successor can be asked for again.
        case rotated(successor: Fingerprint<RefreshToken>, sealed: String, at: Timestamp)
        /// Its successor, or an access token issued with it, was presented: using it now is a replay.
        case confirmed
    }

    let fingerprint: Fingerprint<RefreshToken>
    let family: TokenFamily.ID
    let permissionCreatedAt: Timestamp
    let permissionExpiresAt: Timestamp
    let client: Client.ID
    let subject: Subject?
    /// What was asked for along with the sign-in, for the tokens that follow.
    let request: AuthenticationRequest
    let scope: Scope
    let predecessor: Fingerprint<RefreshToken>?
    let expiresAt: Timestamp
    let state: State
    /// Whether permission and person are alive.
    let isLive: Bool

    /// The third rotation of a family in a row that is asked for again ends it: two hold it and take turns.
    static let longestRepeatRun: Int64 = 3

    /// A chain of refreshes ends a year after the sign-in it came from.
    public static let longestFamily: Duration = .days(365)

    /// What a token issued or slid now lives to, and what its permission must.
    struct Expiry: Sendable {
        let token: Timestamp
        /// No sooner than the access token that is issued with it.
        let family: Timestamp
    }

    /// For a token issued or slid at `now`: the client's lifetime, within its family's year.
    static func expiry(at now: Timestamp, client: Client, familySince: Timestamp) -> Expiry {
        let token = min(now + client.refreshTokenLifetime, familySince + longestFamily)
        return Expiry(token: token, family: max(token, now + client.accessTokenLifetime))
    }
}
