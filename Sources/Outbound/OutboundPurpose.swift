import Values

/// What another server is asked for. Each purpose has a share of its own: who keeps us busy with one of them does not keep
/// us from the others.
public enum OutboundPurpose: String, Sendable, CaseIterable {
    /// Key sets of clients and issuers. Anybody who writes an assertion can have one fetched.
    case keys
    /// What issuers say of themselves.
    case discovery
    /// Request objects at clients' addresses. Any browser can have one fetched.
    case requestObject
    /// The documents of sectors, for clients that register.
    case sector
    /// Questions to providers about tokens.
    case provider
    /// Codes of people who signed in elsewhere, and what is known about them there.
    case signIn
    /// Callbacks and notices to clients.
    case delivery
    case other

    /// Questions under way at once, for everybody together.
    var mostAtOnce: Int {
        switch self {
        case .provider, .signIn, .delivery: 64
        case .keys: 32
        case .discovery, .requestObject, .other: 16
        case .sector: 8
        }
    }

    /// Of these, for one asker. Providers, where each answers for everybody, have theirs for themselves.
    var mostForOne: Int {
        switch self {
        case .provider, .signIn: 32
        case .requestObject, .delivery, .other: 4
        case .keys, .discovery, .sector: 2
        }
    }

    /// How often one asker may cause a question; nil where nobody can who has not shown who they are, or was counted before.
    var rate: Rate? {
        switch self {
        case .keys, .discovery: Rate(burst: 30, refill: .seconds(5))
        case .requestObject: Rate(burst: 60, refill: .seconds(2))
        case .sector: Rate(burst: 30, refill: .seconds(10))
        case .provider, .signIn, .delivery, .other: nil
        }
    }

    /// How often all askers together may.
    var wholeRate: Rate? { rate.map { Rate(burst: $0.burst * 20, refill: .milliseconds($0.refill.milliseconds / 50)) } }

    /// So many at once, and one more after each `refill`.
    struct Rate: Sendable {
        let burst: Int64
        let refill: Duration
    }
}
