public import Authentication
public import Values

/// Somebody's way to another issuer and back.
///
/// It begins and ends in one browser, at one issuer, and ends once: what comes back with its `state` from elsewhere, or
/// again, was made by somebody else (RFC 9700 §4.7).
public struct IdentityProviderRequest: Sendable {
    /// How long somebody may take over there.
    public static let lifetime: Duration = .minutes(10)

    public let issuer: TrustedIssuer.ID
    public let browser: Fingerprint<Browser>
    /// Where the person goes on: a page of ours, or the id of an app's request that waits. Empty for neither.
    public let continueTo: String
    /// Whether nothing but a new sign-in there will do.
    public let isAnew: Bool
    /// Whether the person left from a page of ours, and so has seen where they go on to.
    public let isFromPage: Bool
    /// Whose account the person there is to be connected to; nil where the person signs in.
    public let user: UserID?
    public let createdAt: Timestamp

    public init(
        issuer: TrustedIssuer.ID, browser: Fingerprint<Browser>, continueTo: String, isAnew: Bool,
        isFromPage: Bool = false, user: UserID? = nil, at now: Timestamp
    ) {
        self.issuer = issuer
        self.browser = browser
        self.continueTo = continueTo
        self.isAnew = isAnew
        self.isFromPage = isFromPage
        self.user = user
        createdAt = now
    }

    /// When the answer comes too late.
    var expiresAt: Timestamp { createdAt + Self.lifetime }
}
