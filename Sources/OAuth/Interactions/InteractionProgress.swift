public import Directory
public import Values

/// What a person has done for an authorization request.
public struct InteractionProgress: Sendable, Equatable {
    /// The sign-in after which it was done: the fingerprint of its session's cookie, which the next one replaces.
    public let session: Fingerprint<Session>?
    /// Whether that session was opened for this very request: what `prompt=login` asks for.
    public let isSignedIn: Bool
    /// When the person last answered a page about this request.
    let seenAt: Timestamp?
    /// What the person allowed of it, if they were asked.
    let allowed: Scope?
    /// What a developer tries out with it.
    let trial: TokenTrial?
    /// Whether the person said to be none that was hinted at.
    let isBySomebodyElse: Bool
    /// Whether consent is to be asked for in any case: another person was asked than the one who is there.
    let asksConsent: Bool

    public static let none = InteractionProgress()

    init(
        session: Fingerprint<Session>? = nil, isSignedIn: Bool = false, seenAt: Timestamp? = nil, allowed: Scope? = nil,
        trial: TokenTrial? = nil, isBySomebodyElse: Bool = false, asksConsent: Bool = false
    ) {
        self.session = session
        self.isSignedIn = isSignedIn
        self.seenAt = seenAt
        self.allowed = allowed
        self.trial = trial
        self.isBySomebodyElse = isBySomebodyElse
        self.asksConsent = asksConsent
    }

    /// What of it counts in `session`: what another person did, or the same one before signing in again, does not.
    public func counted(in session: Fingerprint<Session>?) -> InteractionProgress {
        guard let session, session == self.session else {
            return InteractionProgress(isBySomebodyElse: isBySomebodyElse, asksConsent: asksConsent)
        }
        return self
    }

    /// How long an answer on a page shows that somebody is there.
    public static let longestPresence: Duration = .minutes(5)

    /// Whether the person has answered a page about this request a moment ago. An app cannot say so itself: else it could
    /// be answered from an open session, with nobody there.
    public func isPresent(at now: Timestamp) -> Bool {
        seenAt.map { now < $0 + Self.longestPresence } ?? false
    }

    /// The same before the person was asked for consent.
    public var withoutConsent: InteractionProgress {
        InteractionProgress(
            session: session, isSignedIn: isSignedIn, seenAt: seenAt, trial: trial,
            isBySomebodyElse: isBySomebodyElse, asksConsent: asksConsent)
    }
}
