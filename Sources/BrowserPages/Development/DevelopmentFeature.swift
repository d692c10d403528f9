public import Authentication
public import Directory
public import HTTP
public import HTTPSupport

/// `spindle serve --dev`: signs in any user by name, and shows developers what the server has and does
/// (docs/decisions/development-mode.md). Other servers have none of it.
public struct DevelopmentFeature: Feature {
    /// Adds a redirect URI to a client.
    public typealias Registration = @Sendable (Client.ID, String) async throws -> Void

    public let endpoints: [any Endpoint]

    /// - Parameters: `server` answers all other features' requests. `administration` is the origin of administration.
    public init(
        _ context: ServerContext, _ authentication: AuthenticationServices, pages: PageRenderer, sessions: NewSessions,
        memory: DevelopmentMemory, secrets: DevelopmentSecrets, server: any RequestHandler, administration: String,
        register: @escaping Registration
    ) {
        let caller = DevelopmentCaller(site: context.site, secrets: secrets, clock: context.clock, server: server)
        endpoints = [
            DevelopmentSignInEndpoint(
                pages: pages,
                signIn: DevelopmentSignIn(database: context.database, clock: context.clock, events: context.events),
                newSessions: sessions, verifications: authentication.verifications),
            DevelopmentHomeEndpoint(pages: pages, secrets: secrets, administration: administration),
            DevelopmentAnswerEndpoint(pages: pages, memory: memory, caller: caller, random: context.random),
            DevelopmentRecordEndpoint(pages: pages, memory: memory),
            RedirectURIEndpoint(pages: pages, register: register),
        ]
    }
}
