public import Authentication
import Directory
public import Federation
public import HTTPSupport
public import OAuth
public import OpenID
import Outbound

/// `/oauth/…` for clients: tokens, their introspection and revocation, exchange codes, and registration.
public struct TokenFeature: Feature {
    /// Every grant of the token endpoint.
    public let grants: [any Grant]
    public let endpoints: [any Endpoint]

    public init(
        _ context: ServerContext, _ oauth: OAuthServices, _ openID: OpenIDServices,
        _ authentication: AuthenticationServices, _ federation: FederationServices, addresses: AddressRules,
        introspectionCache: Duration
    ) {
        let (database, clock, random, site) = (context.database, context.clock, context.random, context.site)
        grants = [
            PasswordGrant(signingInWith: authentication.signIn, clock: clock, random: random),
            ClientCredentialsGrant(),
            AuthorizationCodeGrant(database: database, seal: context.seal),
            RefreshTokenGrant(
                tokens: RefreshTokens(database: database), seal: context.seal, clock: clock, random: random),
            JWTBearerGrant(
                signIn: federation.assertions, subjects: federation.subjects, providers: federation.providerAssertions,
                clock: clock, random: random),
            TokenExchangeGrant(signIn: federation.assertions, issuer: site.issuer),
        ]
        let expired = ExpiredTokens(tokens: oauth.accessTokens, clients: context.clients)
        endpoints = [
            TokenEndpoint(
                issuance: TokenIssuance(
                    clients: oauth.authenticator, grants: grants, mint: openID.mint, issuer: site.issuer),
                address: context.address),
            PasswordlessTokenEndpoint(
                issuance: TokenIssuance(
                    clients: oauth.authenticator,
                    grants: [PasswordlessGrant(authentication.passwordless, clock: clock, random: random)],
                    mint: openID.mint, issuer: site.issuer),
                address: context.address),
            RegistrationEndpoint(
                registration: ClientRegistration(
                    database: database, clients: context.clients, initialTokens: oauth.initialTokens,
                    sectors: SectorDocument.Source(askedBy: context.outbound), addresses: addresses,
                    allowsUnsafeTokens: site.allowsUnsafeTokens, random: random),
                site: site),
            ExchangeEndpoint(
                tokens: oauth.accessTokens, codes: oauth.exchangeCodes,
                expired: expired),
            IntrospectionEndpoint(
                introspection: Introspection(clients: oauth.authenticator, tokens: oauth.accessTokens),
                tokens: oauth.accessTokens, expired: expired, clients: context.clients, names: openID.names,
                claims: openID.claims, issuer: site.issuer, clock: clock, longestKept: introspectionCache),
            RevocationEndpoint(
                revocation: Revocation(
                    database: database, clients: oauth.authenticator, callbacks: context.callbacks,
                    seal: context.seal, clock: clock)),
        ]
    }
}
