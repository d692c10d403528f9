import Authentication
public import Directory
public import JSON

/// A person as an issuer describes them.
public struct IssuerUser: Sendable {
    public let issuer: TrustedIssuer
    /// The issuer's own name for the person, and the only one that stays theirs.
    public let subject: String
    public let email: EmailAddress?
    /// Whether the issuer says that the person showed to read it.
    public let isEmailVerified: Bool
    /// Whether the issuer is who knows that: it runs the mailbox, or administration says so. Anything else would let who
    /// made an account there with somebody's address have it here.
    public let isAuthoritative: Bool
    public let profile: [JSON.Member]

    /// Of the claims of an ID token, or of what the userinfo endpoint answered.
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

    /// Of what a provider's own interface answered, whose addresses are those that it is authoritative for.
    init(_ person: ProviderUser, subject: String, of issuer: TrustedIssuer) {
        self.issuer = issuer
        self.subject = subject
        email = person.email
        isEmailVerified = person.email != nil
        isAuthoritative = person.email != nil
        profile = person.profile
    }

    /// The address that may lead to an account, or be a new one's.
    var ownAddress: EmailAddress? { isAuthoritative ? email : nil }

    /// Apple, and Google at times, write it as text.
    private static func isVerified(_ claims: JSON) -> Bool {
        claims["email_verified"]?.bool ?? (claims["email_verified"] == "true")
    }

    private static func isAuthoritative(_ issuer: TrustedIssuer, for email: EmailAddress?, _ claims: JSON) -> Bool {
        guard let email else { return false }
        if issuer.rules.authoritativeDomains.contains(email.domain) { return true }
        return switch issuer.app?.provider {
        case .google: isGoogles(email, claims)
        // Who signs in with Apple has shown to Apple that they read it, or it is a mailbox of Apple's.
        case .apple: true
        // Facebook does not say whether anybody reads it.
        case .facebook, nil: false
        }
    }

    /// Whether Google runs the mailbox: it is of Gmail, or of an organisation (`hd`) whose mail Google has.
    static func isGoogles(_ email: EmailAddress, _ claims: JSON) -> Bool {
        email.domain == "gmail.com" || claims["hd"]?.string?.isEmpty == false
    }
}
