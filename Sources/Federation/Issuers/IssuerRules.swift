/// What a merchant wants of an issuer's word besides a signature that verifies.
public struct IssuerRules: Sendable, Equatable {
    /// What the `nonce` of an ID token is worth: it shows that the token was made for the sign-in that the app began.
    public enum Nonce: String, Sendable, CaseIterable {
        /// The app sends it, and the token has it.
        case required
        /// As soon as one of the two has one, so has the other: who found a token does not know what the app began with.
        case ifSent = "if_sent"
        /// Not looked at.
        case none
    }

    /// What became of the app's nonce on its way into the token.
    public enum NonceTransform: String, Sendable, CaseIterable {
        case none
        /// SHA-256 in lowercase hexadecimal.
        case sha256
    }

    public var nonce: Nonce
    public var nonceTransform: NonceTransform
    /// To whom alone its tokens may have been issued (`azp`); empty: to anybody.
    public var authorizedParties: [String]
    /// How long after it was issued (`iat`) a token is still taken.
    public var longestAge: Duration?
    /// Whether a person who is unknown by subject is found by an address that the issuer is authoritative for.
    public var linksByEmail: Bool
    /// Mail domains whose addresses the issuer knows to be read by who signs in there.
    public var authoritativeDomains: [String]

    public init(
        nonce: Nonce = .ifSent, nonceTransform: NonceTransform = .none, authorizedParties: [String] = [],
        longestAge: Duration? = nil, linksByEmail: Bool = false, authoritativeDomains: [String] = []
    ) {
        self.nonce = nonce
        self.nonceTransform = nonceTransform
        self.authorizedParties = authorizedParties
        self.longestAge = longestAge
        self.linksByEmail = linksByEmail
        self.authoritativeDomains = authoritativeDomains
    }
}
