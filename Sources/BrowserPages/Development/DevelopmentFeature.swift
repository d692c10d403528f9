public import Authentication
public import HTTPSupport
import Pages

/// `spindle serve --dev`: signs in any user by name (docs/decisions/development-mode.md). Adds nothing to other
/// servers.
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
                newSessions: sessions, verifications: authentication.verifications),
            DevelopmentAnswerEndpoint(pages: pages),
        ]
    }
}
