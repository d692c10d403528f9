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
    /// Requests to Facebook about access tokens. Anyone with a client's sign secret, which every copy of its app
    /// contains, can cause them.
    case facebook
    /// As above, to Google.
    case google
    /// Redeeming codes of users who signed in elsewhere, and reading their claims there.
    case signIn
    /// Callbacks and notices to clients.
    case delivery
    /// Text messages to the operator's gateway, which nothing that a merchant registers may delay.
    case text
    case other

    /// Running requests at once, over all requesters.
    var mostAtOnce: Int {
        switch self {
        case .requestObject: 256
        case .facebook, .google, .signIn, .keys, .discovery: 128
        case .delivery, .text: 64
        case .sector: 32
        case .other: 16
        }
    }

    /// Of these, for one requester: a merchant, so that its servers, however slow, do not make others wait. Its
    /// self-registered clients are one more requester together (`Client.outboundShare`). For request objects, each
    /// client is a requester.
    var mostForOne: Int {
        switch self {
        case .facebook, .google, .signIn, .requestObject, .delivery, .text: 16
        case .keys, .discovery, .sector: 8
        case .other: 4
        }
    }

    /// For all requesters of one share, where a requester is less than a merchant: a quarter.
    var mostForShare: Int { mostAtOnce / 4 }

    /// Of these, for one part of a requester: a merchant's client or issuer, an address that it publishes something at,
    /// the host of a receiver, or an IP address that brings a client's `request_uri`.
    var mostForPart: Int {
        switch self {
        case .facebook, .google, .signIn: 8
        case .requestObject, .delivery, .text: 4
        case .keys, .discovery, .sector: 2
        case .other: mostForOne
        }
    }

    /// How often one requester may cause a request; nil if every requester is authenticated or was counted before.
    var rate: Rate? {
        switch self {
        case .keys, .discovery: Rate(burst: 600, refill: .milliseconds(200))
        case .requestObject: Rate(burst: 1200, refill: .milliseconds(50))
        case .sector: Rate(burst: 300, refill: .seconds(1))
        case .facebook, .google, .signIn, .delivery, .text, .other: nil
        }
    }

    /// How often one part of a requester may cause a request.
    var partRate: Rate? {
        switch self {
        case .facebook, .google: Rate(burst: 600, refill: .milliseconds(100))
        // Small beside the client's, so that a single browser cannot use that up.
        case .requestObject: Rate(burst: 60, refill: .seconds(2))
        case .keys, .discovery: Rate(burst: 30, refill: .seconds(5))
        case .sector: Rate(burst: 30, refill: .seconds(10))
        case .signIn, .delivery, .text, .other: nil
        }
    }

    /// How often all requesters of one share together may, if a requester is less than a merchant: a tenth of all.
    var shareRate: Rate? {
        switch self {
        case .requestObject: Rate(burst: 2400, refill: .milliseconds(10))
        case .keys, .discovery, .sector, .facebook, .google, .signIn, .delivery, .text, .other: nil
        }
    }

    /// How often one part may over all requesters: a browser's IP address, which many users may share.
    var commonPartRate: Rate? {
        switch self {
        case .requestObject: Rate(burst: 600, refill: .milliseconds(100))
        case .keys, .discovery, .sector, .facebook, .google, .signIn, .delivery, .text, .other: nil
        }
    }

    /// How often all requesters together may.
    var wholeRate: Rate? { rate.map { Rate(burst: $0.burst * 20, refill: .milliseconds($0.refill.milliseconds / 50)) } }

    /// This many at once, and one more after each `refill`.
    struct Rate: Sendable {
        let burst: Int64
        let refill: Duration

        func times(_ number: Int64) -> Rate {
            Rate(burst: burst * number, refill: .milliseconds(refill.milliseconds / number))
        }
    }
}
