public import Authentication
public import HTTPSupport
import Pages

/// `spindle serve --dev`: anyone signs in as anyone (docs/decisions/development-mode.md). Nothing on any other server.
public struct DevelopmentFeature: Feature {
    public let endpoints: [any Endpoint]

    public init(
        _ context: ServerContext, _ authentication: AuthenticationServices, pages: PageRenderer, sessions: NewSessions
    ) {
        guard context.templates.isDevelopment else {
            endpoints = []
            return
        }
        endpoints = [
            DevelopmentSignInEndpoint(
                pages: pages,
                signIn: DevelopmentSignIn(database: context.database, clock: context.clock, events: context.events),
                arrivals: sessions, verifications: authentication.verifications),
            DevelopmentAnswerEndpoint(pages: pages),
        ]
    }
}
