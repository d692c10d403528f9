public import Authentication
public import Directory
public import Values

/// A user's sign-in at another issuer, from here and back.
///
/// It begins and ends in one browser, at one issuer, and ends once. A response with its `state` from elsewhere, or a
/// second one, is forged (RFC 9700 §4.7).
public struct IdentityProviderRequest: Sendable {
    /// How long a user may take there.
    public static let lifetime: Duration = .minutes(10)

    public let issuer: TrustedIssuer.ID
    public let browser: Fingerprint<Browser>
    /// Where the user goes next: a page of ours, or the id of an app's waiting request. Empty for neither.
    public let continueTo: String
    /// Whether only a new sign-in there will do.
    public let isAnew: Bool
    /// Whether the user came from a page of ours, which showed where they go next.
    public let isFromPage: Bool
    /// The session that asked to link the issuer; nil for a sign-in.
    public let linkingSession: LinkingSession?
    public let createdAt: Timestamp

    /// A user in a browser session, with its cookie at the time of the request: a former cookie links nothing.
    public struct LinkingSession: Sendable, Equatable {
        let user: UserID
        let session: Session.ID
        let renewals: Int64

        init(user: UserID, session: Session.ID, renewals: Int64) {
            self.user = user
            self.session = session
            self.renewals = renewals
        }

        public init(_ session: Session) {
            self.init(user: session.user, session: session.id, renewals: session.renewals)
        }
    }

    public init(
        issuer: TrustedIssuer.ID, browser: Fingerprint<Browser>, continueTo: String, isAnew: Bool,
        isFromPage: Bool = false, linkingSession: LinkingSession? = nil, at now: Timestamp
    ) {
        self.issuer = issuer
        self.browser = browser
        self.continueTo = continueTo
        self.isAnew = isAnew
        self.isFromPage = isFromPage
        self.linkingSession = linkingSession
        createdAt = now
    }

    /// A response after this is too late.
    var expiresAt: Timestamp { createdAt + Self.lifetime }
}
