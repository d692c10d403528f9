import Authentication
public import Directory
public import JSON

/// A user as an issuer describes them.
public struct IssuerUser: Sendable {
    public let issuer: TrustedIssuer
    /// The issuer's identifier of the user: the only one that never passes to another user.
    public let subject: String
    public let email: EmailAddress?
    /// Whether the issuer says that the user proved to read the address.
    public let isEmailVerified: Bool
    /// Whether the issuer can know that: it runs the mailbox, or an administrator says so. Otherwise any user who
    /// registers there with another user's address would become that user here.
    public let isAuthoritative: Bool
    public let profile: [JSON.Member]

    /// Reads the claims of an ID token or of a userinfo response.
    public init(_ claims: JSON, subject: String, of issuer: TrustedIssuer) {
        self.issuer = issuer
        self.subject = subject
        email = claims["email"]?.string.flatMap(EmailAddress.init)
        isEmailVerified = Self.isVerified(claims)
        isAuthoritative = isEmailVerified && Self.isAuthoritative(issuer, for: email, claims)
        var names = ProviderUser()
        for claim in ["name", "given_name", "family_name", "locale"] { names.take(claim, claims[claim]) }
        profile = names.profile
    }

    /// Reads the answer of a provider's own API. Uses only addresses that the provider is authoritative for.
    init(_ user: ProviderUser, subject: String, of issuer: TrustedIssuer) {
        self.issuer = issuer
        self.subject = subject
        email = user.email
        isEmailVerified = user.email != nil
        isAuthoritative = user.email != nil
        profile = user.profile
    }

    /// The address that may lead to an existing user, or become a new user's.
    var ownAddress: EmailAddress? { isAuthoritative ? email : nil }

    /// Apple, and sometimes Google, send it as a string.
    private static func isVerified(_ claims: JSON) -> Bool {
        claims["email_verified"]?.bool ?? (claims["email_verified"] == "true")
    }

    private static func isAuthoritative(_ issuer: TrustedIssuer, for email: EmailAddress?, _ claims: JSON) -> Bool {
        guard let email else { return false }
        if issuer.rules.authoritativeDomains.contains(email.domain) { return true }
        return switch issuer.app?.provider {
        case .google: isGoogles(email, claims)
        // The user has proved to Apple that they read the address, or Apple runs the mailbox.
        case .apple: true
        // Facebook does not say whether the address was verified.
        case .facebook, nil: false
        }
    }

    /// Whether Google runs the mailbox: at Gmail, or for an organisation (`hd`) whose mail Google hosts.
    static func isGoogles(_ email: EmailAddress, _ claims: JSON) -> Bool {
        email.domain == "gmail.com" || claims["hd"]?.string?.isEmpty == false
    }
}
