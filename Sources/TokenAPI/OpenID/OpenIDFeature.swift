public import Authentication
import Directory
public import HTTPSupport
public import Keys
public import OAuth
public import OpenID
import Pages

/// The metadata of this server, and what clients are told about users.
public struct OpenIDFeature: Feature {
    public let endpoints: [any Endpoint]

    /// - Parameter realm: where Basic credentials of users are accepted; nil if nowhere.
    public init(
        _ context: ServerContext, _ oauth: OAuthServices, _ openID: OpenIDServices,
        _ authentication: AuthenticationServices, ring: KeyRing, realm: String?
    ) {
        let site = context.site
        let expired = ExpiredTokens(tokens: oauth.accessTokens, clients: context.clients)
        let users = UserAuthentication(
            tokens: oauth.accessTokens, expired: expired, signIn: authentication.signIn, realm: realm,
            address: context.address,
            random: context.random)
        endpoints = [
            MetadataEndpoint(
                metadata: ProviderMetadata(
                    issuer: site.issuer, origin: site.origin, grants: GrantType.all,
                    languages: Language.allCases.map(\.rawValue)),
                keys: KeySet(ring: ring), site: site),
            UserEndpoint(
                gate: users, tokens: oauth.accessTokens, expired: expired, clients: context.clients,
                names: openID.names,
                users: context.users, families: context.families, apps: oauth.apps),
            UserinfoEndpoint(
                gate: users, clients: context.clients, families: context.families, names: openID.names,
                claims: openID.claims, ring: ring, issuer: site.issuer),
        ]
    }
}
