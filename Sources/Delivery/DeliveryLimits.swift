/// How many deliveries are under way at once at one node, and how many of those that wait are due at once.
enum DeliveryLimits {
    /// Of one kind. A mail server takes a few connections, and the gateway of text messages as many as one server is
    /// sent at once (`OutboundPurpose`); clients' servers are many.
    static func mostAtOnce(_ kind: Delivery.Kind) -> Int {
        switch kind {
        case .mail: 8
        case .text: 4
        default: 32
        }
    }
    /// Of these, for one share. One merchant whose servers hang leaves the others three quarters, and mails or texts
    /// that hang leave others one place in four.
    static func mostForOneShare(_ kind: Delivery.Kind) -> Int { min(8, mostAtOnce(kind) * 3 / 4) }
    /// Of these, to one server, so that a slow one leaves the share's others something.
    static let mostToOneServer = 2
    /// Of these, to servers of the share that failed last time, however many they are.
    static let mostToFailing = 4
    /// Of the mails of one share, to domains that were slow last time, and to these and those that are not known to be
    /// quick, and as many to any one domain: the rest is for others that took so many in a row at once.
    static let mostToSlowDomains = 2
    static let mostToUnknownDomains = 4
    /// The same of the mails of all shares, and one more for a share that has none: a stranger may have a hand in
    /// several.
    static let mostToSlowDomainsInAll = 4
    static let mostToUnknownDomainsInAll = 6
    /// How many mails wait for such a place, of all shares: each holds one meanwhile.
    static let mostWaiting = 2
    static let quickInARow = 20
    /// What it takes at most at a quick domain, and at least at a slow one.
    static let quick: Duration = .seconds(5)
    static let slow: Duration = .seconds(15)
    /// How long one waits for a place at its server before it is put off, and how often it looks.
    static let patience: Duration = .seconds(2)
    static let look: Duration = .milliseconds(20)
    /// How many changes of one user's profile, each told to one client, may wait to be sent at once.
    static let mostOfOneSubject = 20
    /// How many may wait in all, tried or not; then the oldest is forgotten for each new one.
    static let mostKeptOfOneSubject = 1000
    /// The time between further changes of a profile.
    static let pauseOfSubject: Duration = .seconds(1)
    /// The time between further notices about one user to one client. A user with thousands of sessions then takes both
    /// places of a server only if it needs half a second for each, and leaves a quicker one time for others.
    static let pauseOfNotices: Duration = .milliseconds(250)
}
