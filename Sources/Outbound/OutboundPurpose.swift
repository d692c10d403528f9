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
    /// Questions to Facebook about access tokens. Anyone who has a client's sign secret, which is in each copy of its
    /// app, can cause them.
    case facebook
    /// The same to Google.
    case google
    /// Redeeming codes of users who signed in elsewhere, and reading their claims there.
    case signIn
    /// Callbacks and notices to clients.
    case delivery
    case other

    /// Requests under way at once, over all requesters.
    var mostAtOnce: Int {
        switch self {
        case .facebook, .google, .signIn: 128
        case .requestObject, .delivery: 64
        case .keys: 32
        case .discovery, .other: 16
        case .sector: 8
        }
    }

    /// Of these, for one requester: a merchant, where users' sign-in depends on it, so that one merchant's users never
    /// wait for another's.
    var mostForOne: Int {
        switch self {
        case .facebook, .google, .signIn, .requestObject: 16
        case .delivery, .other, .keys, .discovery: 4
        case .sector: 2
        }
    }

    /// And of these, for one part of a requester: a merchant's client or issuer, the address of a key set or of
    /// metadata, or an IP address that brings a client's `request_uri`.
    var mostForPart: Int {
        switch self {
        case .facebook, .google, .signIn: 8
        case .requestObject: 4
        case .keys, .discovery: 2
        case .sector, .delivery, .other: mostForOne
        }
    }

    /// How often one requester may cause a request; nil if every requester is authenticated or was counted before.
    var rate: Rate? {
        switch self {
        // Two hundred clients of a merchant with key sets that live five minutes.
        case .keys, .discovery: Rate(burst: 60, refill: .seconds(1))
        case .requestObject: Rate(burst: 1200, refill: .milliseconds(50))
        case .sector: Rate(burst: 30, refill: .seconds(10))
        case .facebook, .google, .signIn, .delivery, .other: nil
        }
    }

    /// How often one part of a requester may.
    var partRate: Rate? {
        switch self {
        case .facebook, .google: Rate(burst: 600, refill: .milliseconds(100))
        // Small beside the client's, so that no stranger's browser uses that up.
        case .requestObject: Rate(burst: 60, refill: .seconds(2))
        case .keys, .discovery: Rate(burst: 30, refill: .seconds(5))
        case .sector, .signIn, .delivery, .other: nil
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
