public import Values

/// An application that asks for tokens: a phone app, a backend, an administrator's script.
public struct Client: Sendable {
    public typealias ID = Identifier<Client>

    /// How a client proves to be itself (RFC 7591 `token_endpoint_auth_method`).
    public enum Authentication: String, Sendable, CaseIterable {
        case none
        case secretBasic = "client_secret_basic"
        case secretPost = "client_secret_post"
        /// Signs with the sign secret: of a client secret we keep no more than the fingerprint.
        case secretJWT = "client_secret_jwt"
        case privateKeyJWT = "private_key_jwt"

        /// Whether it shows a secret, of which it may have more than one.
        public var takesSecret: Bool { self == .secretBasic || self == .secretPost }
    }

    public let id: ID
    /// Nil for the platform's own clients.
    public let merchant: Merchant.ID?
    public var name: String
    public var redirectURIs: [RedirectURI]
    public var grantTypes: Set<GrantType>
    public var scope: Scope
    public let authentication: Authentication
    /// The merchant's own: its people need not be asked for consent, and it may buy sessions.
    public var firstParty: Bool
    public var spidCompatible: Bool
    /// Whether a confidential client gets a new refresh token at each use. A public one always does.
    public var rotatesRefreshTokens: Bool
    public var accessTokenLifetime: Duration
    public var refreshTokenLifetime: Duration
    /// How long a rotated refresh token may be shown again while nobody has shown to have its successor.
    public var refreshRepeatWindow: Duration
    /// Whether it must send a `code_challenge`, or a nonce with `openid` (RFC 9700 §2.1.1). A public client always must
    /// send a `code_challenge`.
    public var requiresPKCE: Bool
    /// Origins of its web pages, which may ask for the session; a first party's may also frame the sign-in.
    public var webOrigins: [String]
    /// Where a logout may return to, beside its redirect URIs.
    public var postLogoutRedirectURIs: [RedirectURI]
    /// Who is told when a person changes or is deleted.
    public var callbackURI: String?
    /// Whether its people must have shown that they read their e-mail address.
    public var requiresVerifiedEmail: Bool
    /// Whether the API of SPiD answers it with a signature.
    public var signsResponses: Bool
    /// Where what its people agree to is to be read. New terms have a new address.
    public var termsURI: String?
    public var termsChangedAt: Timestamp?
    /// What it registered of OpenID Connect.
    public var openID: OpenIDSettings
    /// The key of signed requests and responses; not the client secret.
    public let sealedSignSecret: String
    /// Whether it came by itself and nobody vouched for it: what it says of itself is its own word (RFC 7591 §5).
    public let registeredItself: Bool
    public let createdAt: Timestamp
    public var updatedAt: Timestamp
    public var disabledAt: Timestamp?

    public var isPublic: Bool { authentication == .none }
    /// Neither the merchant's own nor set to SPiD's ways: it has what its people allow it, and nothing besides.
    public var isStranger: Bool { !firstParty && !spidCompatible }
    /// Whether tokens of `other`, a client of `merchant`, are its business. Nobody vouched for a client that registered
    /// itself: its business are its own.
    package func sees(tokensOf other: ID, of merchant: Merchant.ID?) -> Bool {
        registeredItself ? id == other : Merchant.same(self.merchant, merchant)
    }
    public var rotates: Bool { isPublic || rotatesRefreshTokens }
    public func may(_ grant: GrantType) -> Bool { grantTypes.contains(grant) }

    /// The registered address that is exactly `text`.
    public func redirectURI(_ text: String) -> RedirectURI? { redirectURIs.first { $0.isExactly(text) } }
}
