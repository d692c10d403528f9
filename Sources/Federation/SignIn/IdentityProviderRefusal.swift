import OAuth
import Values

/// Why somebody who was sent to another issuer is not signed in. The reasons are for the log.
public enum IdentityProviderRefusal: Error, Sendable, Equatable {
    /// Too many were sent from there of late.
    case tooMany(Duration)
    /// What came back belongs to nothing that this browser began and has not ended.
    case gone(reason: String)
    /// The person did not want to, or the issuer did not want the person.
    case declined
    /// The issuer says that something is wrong between it and us.
    case failed(reason: String)
    /// What it says is not to be believed.
    case mistrusted(reason: String)
    /// It does not answer, or not what it should.
    case unavailable(reason: String)
    /// It did not ask the person again, or does not say so.
    case stale
    /// It was disabled or deleted meanwhile.
    case closed

    /// One line for the log.
    public var reason: String {
        switch self {
        case .tooMany: "too_many_departures"
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
    /// What the log is told of it.
    var logText: String { [reason, detail].compactMap(\.self).joined(separator: " ") }
}
