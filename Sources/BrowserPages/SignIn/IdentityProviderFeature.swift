public import Authentication
public import Federation
public import HTTPSupport

/// Signing in at other issuers, and connecting them to a user.
public struct IdentityProviderFeature: Feature {
    public let endpoints: [any Endpoint]

    public init(
        _ context: ServerContext, _ authentication: AuthenticationServices, _ federation: FederationServices,
        pages: PageRenderer, sessions: NewSessions, access: UserAccess
    ) {
        let (clock, random) = (context.clock, context.random)
        let endpoint = IdentityProviderEndpoint(
            pages: pages,
            signIn: IdentityProviderSignIn(
                requests: federation.requests,
                partners: IdentityProviderSignIn.Partners(
                    directory: federation.directory, verifier: federation.verifier, tokens: federation.tokens,
                    providers: federation.providers),
                seal: context.seal, origin: context.site.origin, clock: clock, random: random),
            requests: federation.requests,
            entrance: IdentityProviderEntrance(
                database: context.database, users: federation.users, sessions: authentication.sessions, clock: clock,
                random: random),
            newSessions: sessions, verifications: authentication.verifications, clock: clock, random: random)
        endpoints = [endpoint, ConnectEndpoint(gate: access, signIn: endpoint)]
    }
}
