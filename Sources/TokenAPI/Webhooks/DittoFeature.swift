public import Ditto
public import HTTPSupport
public import OAuth
public import OpenID

/// Ditto's webhook: which users a merchant admits.
public struct DittoFeature: Feature {
    public let endpoints: [any Endpoint]

    public init(_ context: ServerContext, _ oauth: OAuthServices, _ openID: OpenIDServices, webhooks: DittoWebhooks) {
        endpoints = [
            DittoEndpoint(
                webhooks: webhooks,
                authentication: DittoAuthentication(
                    seal: context.seal,
                    tokens: DittoTokens(
                        accessTokens: oauth.accessTokens, hints: openID.hints, clients: context.clients,
                        names: openID.names, users: context.users, families: context.families,
                        issuer: context.site.issuer),
                    clock: context.clock))
        ]
    }
}
