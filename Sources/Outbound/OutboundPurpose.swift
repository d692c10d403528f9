import Values

/// Why another server is asked. Each purpose has its own quota, so that abuse of one does not block the others.
public enum OutboundPurpose: String, Sendable, CaseIterable {
    /// Key sets of clients and issuers. Anyone who sends an assertion can cause a request.
    case keys
    /// Metadata of issuers.
    case discovery
    /// Request objects at clients' URLs. Any browser can cause a request.
    case requestObject
    /// Sector documents, for client registration.
    case sector
    /// Questions to identity providers about tokens.
    case provider
    /// Redeeming codes of users who signed in elsewhere, and reading their claims there.
    case signIn
    /// Callbacks and notices to clients.
    case delivery
    case other

    /// Requests under way at once, over all requesters.
    var mostAtOnce: Int {
        switch self {
        case .provider, .signIn, .delivery: 64
        case .keys: 32
        case .discovery, .requestObject, .other: 16
        case .sector: 8
        }
    }

    /// Of these, for one requester. An identity provider has a larger share, because it serves all users.
    var mostForOne: Int {
        switch self {
        case .provider, .signIn: 32
        case .requestObject, .delivery, .other: 4
        case .keys, .discovery, .sector: 2
        }
    }

    /// How often one requester may cause a request; nil if every requester is authenticated or was counted before.
    var rate: Rate? {
        switch self {
        case .keys, .discovery: Rate(burst: 30, refill: .seconds(5))
        case .requestObject: Rate(burst: 60, refill: .seconds(2))
        case .sector: Rate(burst: 30, refill: .seconds(10))
        case .provider, .signIn, .delivery, .other: nil
        }
    }

    /// How often all requesters together may.
    var wholeRate: Rate? { rate.map { Rate(burst: $0.burst * 20, refill: .milliseconds($0.refill.milliseconds / 50)) } }

    /// This many at once, and one more after each `refill`.
    struct Rate: Sendable {
        let burst: Int64
        let refill: Duration
    }
}
