import OAuth
import Values

/// Why a user who was sent to another issuer is not signed in. The reasons are for the log.
public enum IdentityProviderRefusal: Error, Sendable, Equatable {
    /// Too many sign-ins started from the same address; carries how long to wait.
    case tooMany(Duration)
    /// The issuer's merchant has many new users; carries how long to wait.
    case tooManyNewcomers(Duration)
    /// The response belongs to no open sign-in of this browser.
    case gone(reason: String)
    /// The user declined, or the issuer refused the user.
    case declined
    /// The issuer reports an error in our request or in itself.
    case failed(reason: String)
    /// The response cannot be trusted.
    case mistrusted(reason: String)
    /// The issuer does not answer, or not as it should.
    case unavailable(reason: String)
    /// The issuer did not let the user sign in again, or does not say so.
    case stale
    /// The issuer was disabled or deleted meanwhile.
    case closed

    /// One line for the log.
    public var reason: String {
        switch self {
        case .tooMany: "too_many_departures"
        case .tooManyNewcomers: "new_users_throttled"
        case .gone(let reason): reason
        case .declined: "upstream_declined"
        case .failed(let reason): "upstream_failed: \(reason)"
        case .mistrusted(let reason): "upstream_mistrusted: \(reason)"
        case .unavailable(let reason): "upstream_unavailable: \(reason)"
        case .stale: "upstream_stale"
        case .closed: "upstream_closed"
        }
    }
}

extension OAuthError {
    /// The text for the log.
    var logText: String { [reason, detail].compactMap(\.self).joined(separator: " ") }
}
