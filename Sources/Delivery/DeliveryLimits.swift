/// How many deliveries one node sends at once, and how many of those that wait are due at once.
enum DeliveryLimits {
    /// The most of one kind. A mail server accepts only a few connections, and the gateway for text messages gets as
    /// many as any one server (`OutboundPurpose`). The other kinds go to the servers of many clients.
    static func mostAtOnce(_ kind: Delivery.Kind) -> Int {
        switch kind {
        case .mail: 8
        case .text: 4
        default: 32
        }
    }
    /// Of these, for one share. A merchant whose servers hang leaves the others three quarters; mails or texts that
    /// hang leave others one place in four.
    static func mostForOneShare(_ kind: Delivery.Kind) -> Int { min(8, mostAtOnce(kind) * 3 / 4) }
    /// Of these, to one server, so that a slow one leaves places to others of the share.
    static let mostToOneServer = 2
    /// Of these, to all servers of the share together that failed last time.
    static let mostToFailing = 4
    /// The places that one share's mails may take for slow domains, and for slow and unknown ones together, or for any
    /// single quick domain. The rest is for quick domains.
    static let mostToSlowDomains = 2
    static let mostToUnknownDomains = 4
    /// As above for the mails of all shares. One more place is for a share that has none, because one attacker may use
    /// several shares.
    static let mostToSlowDomainsInAll = 4
    static let mostToUnknownDomainsInAll = 6
    /// How many mails wait for a place, over all shares: each occupies a worker meanwhile.
    static let mostWaiting = 2
    static let quickInARow = 20
    /// A mail to a quick domain takes no longer than this.
    static let quick: Duration = .seconds(5)
    static let slow: Duration = .seconds(15)
    /// How long a delivery waits for a place at its server before it is put off, and how often it checks.
    static let patience: Duration = .seconds(2)
    static let look: Duration = .milliseconds(20)
    /// How many changes of one user's profile, each told to one client, may wait to be sent at once.
    static let mostOfOneSubject = 20
    /// How many may wait in all, attempted or not; beyond that the oldest is deleted for each new one.
    static let mostKeptOfOneSubject = 1000
    /// The time between further changes of a profile.
    static let pauseOfSubject: Duration = .seconds(1)
    /// The time between further notices about one user to one client. A user with thousands of sessions then occupies
    /// both places of a server only if it needs half a second for each, and leaves a quicker one time for others.
    static let pauseOfNotices: Duration = .milliseconds(250)
}
