public import JSON
import Storage
public import Values

/// An application that asks for tokens: a phone app, a backend, an administrator's script.
public struct Client: Sendable, Equatable {
    public typealias ID = Identifier<Client>

    /// How a client authenticates (RFC 7591 `token_endpoint_auth_method`).
    public enum Authentication: String, Sendable, CaseIterable {
        case none
        case secretBasic = "client_secret_basic"
        case secretPost = "client_secret_post"
        /// Signs with the sign secret, because only the fingerprint of a client secret is stored.
        case secretJWT = "client_secret_jwt"
        case privateKeyJWT = "private_key_jwt"

        /// Whether it authenticates with a client secret, of which it may have more than one.
        public var takesSecret: Bool { self == .secretBasic || self == .secretPost }
    }

    public let id: ID
    /// Decides what the client may do.
    public internal(set) var kind: ClientKind
    public var name: String
    /// The name of a client that has none.
    package static let unnamed = "Unnamed client"
    public internal(set) var redirectURIs: [RedirectURI]
    public var grantTypes: Set<GrantType>
    public var scope: Scope
    public let authentication: Authentication
    /// Whether a confidential client gets a new refresh token at each use. A public client always does.
    public var rotatesRefreshTokens: Bool
    public var accessTokenLifetime: Duration
    /// For a client that sets no other.
    /// The most that an access token lives that its client can renew at any time.
    public static let longestRenewable: Duration = .days(1)
    public static let usualAccessTokenLifetime: Duration = .hours(1)
    public static let shortestAccessTokenLifetime: Duration = .seconds(10)
    public var refreshTokenLifetime: Duration
    public var refreshFamilyLifetime: RefreshFamilyLifetime
    /// How long a rotated refresh token may be redeemed again while its successor is unused.
    public var refreshRepeatWindow: Duration
    /// The leeway that administration set (`refreshLeeway`); nil if it set none.
    public var chosenRefreshLeeway: Duration?
    /// Whether it must send a `code_challenge`, or a nonce with `openid` (RFC 9700 §2.1.1). A public client always must
    /// send a `code_challenge`.
    public var requiresPKCE: Bool
    /// The addresses of its web pages.
    public var webPages: [WebPages]
    /// The URIs that a logout may return to, in addition to its redirect URIs.
    public var postLogoutRedirectURIs: [RedirectURI]
    /// The URI that is called when a user changes or is deleted.
    public var callbackURI: String?
    /// Whether its users must have verified their e-mail address.
    public var requiresVerifiedEmail: Bool
    /// Whether SPiD's API signs its responses to the client.
    public var signsResponses: Bool
    /// The URL of the terms that its users accept. New terms have a new URL.
    public var termsURI: String?
    public var termsChangedAt: Timestamp?
    /// Its registered OpenID Connect settings.
    @Boxed public var openID: OpenIDSettings
    /// Settings that SPiD let clients choose; the defaults for a client that is not SPiD-compatible.
    @Boxed public var spid: SPiDSettings
    /// The sealed key of signed requests and responses; not the client secret.
    public let sealedSignSecret: String
    /// The scope that administration last set for a self-registered client. Nil if it set none.
    public var scopeLimit: Scope?
    /// The same for its grant types.
    public var grantLimit: Set<GrantType>?
    public let createdAt: Timestamp
    public var updatedAt: Timestamp
    /// When it got its first token.
    package internal(set) var usedAt: Timestamp?
    public var disabledAt: Timestamp?
    /// When a secret of it was last ended, or its own keys were last replaced.
    public var secretEndedAt: Timestamp?
    /// When a self-registered client last changed its identity towards users. No two changes have the same time.
    public var identityChangedAt: Timestamp?

    /// Whether its refresh tokens can be used once. From a backend, a thief would need the secret too.
    public var rotates: Bool { !may(.keepRefreshTokens) || rotatesRefreshTokens }
    public func may(_ grant: GrantType) -> Bool { grantTypes.contains(grant) }

    /// The registered redirect URI that is exactly `text`.
    public func redirectURI(_ text: String) -> RedirectURI? { redirectURIs.first { $0.isExactly(text) } }
}

extension Client {
    mutating func take(_ metadata: ClientMetadata) {
        kind = kind.changed(to: metadata)
        name = metadata.name
        redirectURIs = metadata.redirectURIs
        grantTypes = metadata.grantTypes
        scope = metadata.scope
        rotatesRefreshTokens = metadata.rotatesRefreshTokens
        accessTokenLifetime = metadata.accessTokenLifetime
        refreshTokenLifetime = metadata.refreshTokenLifetime
        refreshFamilyLifetime = metadata.refreshFamilyLifetime
        refreshRepeatWindow = metadata.refreshRepeatWindow
        chosenRefreshLeeway = metadata.chosenRefreshLeeway
        requiresPKCE = metadata.requiresPKCE ?? requiresPKCE
        webPages = metadata.webPages
        postLogoutRedirectURIs = metadata.postLogoutRedirectURIs
        callbackURI = metadata.callbackURI
        requiresVerifiedEmail = metadata.requiresVerifiedEmail
        signsResponses = metadata.signsResponses
        termsURI = metadata.termsURI
        openID = metadata.openID
        spid = metadata.spid
    }
}

extension JSONFault {
    public static let platformScopeOfMerchant = JSONFault(
        "scope", "without admin for a merchant's client; admin:merchant is for those")
}

extension Client {
    /// The clients whose tokens buy exchange codes for this client; nil for a backend, which takes those of all its
    /// merchant's clients. A copy of an app contains its secret, so an app takes only the clients it names, and itself
    /// where a server shares its id and secret, as behind SPiD's apps. Tokens from these codes outlive the
    /// app's sign-out, as a backend's tokens do (docs/decisions/what-spid-clients-may.md).
    package var exchangeCodeSources: [ID]? {
        guard !may(.takeCodesOfAnyClient) else { return nil }
        let hasServer = may(.takeCodesOfItself) && redirectURIs.contains { $0.secureHost != nil }
        return spid.publicExchangeCodesFrom + (hasServer ? [id] : [])
    }

    /// Refuses a source of exchange codes (`SPiDSettings.publicExchangeCodesFrom`) that is no client of the same
    /// merchant. `former` is the client before the change: sources it already had may stay, even when deleted since.
    func confirmSources(after former: Client?, in db: any Transaction) throws {
        let kept = former?.spid.publicExchangeCodesFrom ?? []
        for source in spid.publicExchangeCodesFrom where !kept.contains(source) {
            let found = try db.rows("SELECT id FROM clients WHERE id = \(source) AND merchant_id = \(merchant)")
            guard !found.isEmpty else {
                throw JSONFault("public_exchange_codes_from", "ids of clients of its merchant")
            }
        }
    }
}
