/// What a merchant requires of an issuer's token besides a valid signature.
public struct IssuerRules: Sendable, Equatable {
    /// How the `nonce` of an ID token is checked: it shows that the token was made for the app's own sign-in.
    public enum Nonce: String, Sendable, CaseIterable {
        /// The app sends it, and the token has it.
        case required
        /// If the app or the token has one, so must the other: a thief of the token does not know the app's nonce.
        case ifSent = "if_sent"
        /// Not checked.
        case none
    }

    /// How the app's nonce was transformed on its way into the token.
    public enum NonceTransform: String, Sendable, CaseIterable {
        case none
        /// SHA-256 in lowercase hexadecimal.
        case sha256
    }

    public var nonce: Nonce
    public var nonceTransform: NonceTransform
    /// The only parties that its tokens may have been issued to (`azp`); empty allows all.
    public var authorizedParties: [String]
    /// How long after it was issued (`iat`) a token is accepted.
    public var longestAge: Duration?
    /// Whether a user with an unknown subject is found by an address that the issuer is authoritative for.
    public var linksByEmail: Bool
    /// Mail domains whose addresses the issuer verifies.
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
