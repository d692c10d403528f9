public import Authentication
import Directory
import HTTP
public import HTTPSupport
import JSON
public import Keys
public import OAuth
public import OpenID
import Pages

/// `/.well-known/openid-configuration` and our public keys: what other servers read before they trust us.
public struct MetadataEndpoint: Endpoint {
    private let metadata: JSON
    private let keys: KeySet
    private let site: Site

    public init(metadata: ProviderMetadata, keys: KeySet, site: Site) {
        self.metadata = metadata.json
        self.keys = keys
        self.site = site
    }

    public func add(to router: inout Routes) {
        let wellKnown = ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"]
        // An issuer with a path has it before (Discovery §4) and after (RFC 8414 §3) the well-known part.
        let path = site.issuerPath
        let ofIssuer = path.isEmpty ? [] : [path + wellKnown[0], path + wellKnown[1], wellKnown[1] + path]
        for path in wellKnown + ofIssuer {
            router.get(path, .getMetadata, isSafe: true, readers: .everyPage) { _, _ in Response.published(metadata) }
        }
        for path in ["/oauth/jwks", "/.well-known/jwks.json"] {
            router.get(path, .getKeys, isSafe: true, readers: .everyPage) { _, _ in
                Response.published(try await keys.json())
            }
        }
    }
}

extension Response {
    /// A response that may be cached for as long as a new key is published before it signs.
    fileprivate static func published(_ json: JSON) -> Response {
        let headers: Fields = [.contentType: "application/json", .cacheControl: "public, max-age=300"]
        return Response(status: .ok, headers: headers, body: .bytes(json.bytes))
    }
}

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
