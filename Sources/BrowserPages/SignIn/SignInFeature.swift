public import Authentication
public import HTTPSupport
public import OAuth

/// Signing in and up: with a password, by mail, and from an app.
public struct SignInFeature: Feature {
    public let endpoints: [any Endpoint]

    public init(
        _ context: ServerContext, _ oauth: OAuthServices, _ authentication: AuthenticationServices,
        pages: PageRenderer, sessions: NewSessions
    ) {
        let (mail, verifications) = (context.mail, authentication.verifications)
        endpoints = [
            LoginEndpoint(
                pages: pages, signIn: authentication.signIn, newSessions: sessions, verifications: verifications),
            MailSignInEndpoint(
                pages: pages, verifications: verifications, signIn: authentication.mailSignIn, newSessions: sessions,
                mail: mail),
            SignUpEndpoint(
                pages: pages, verifications: verifications, signUp: authentication.signUp,
                agreements: oauth.agreements, newSessions: sessions, mail: mail),
            AppSignUpEndpoint(
                pages: pages, verifications: verifications, signUp: authentication.appSignUp,
                signIn: authentication.signIn, newSessions: sessions),
            PasswordEndpoint(
                pages: pages, verifications: verifications, signIn: authentication.mailSignIn,
                reset: authentication.passwordReset, newSessions: sessions, mail: mail, users: context.users),
            VerifyEndpoint(
                pages: pages, verifications: verifications, addresses: authentication.addressChange,
                newSessions: sessions, mail: mail),
            SessionCodeEndpoint(
                pages: pages, exchange: oauth.sessionExchange, sessions: authentication.sessions, users: context.users,
                address: context.address, clock: context.clock, random: context.random),
            AssetEndpoint(templates: context.templates, merchants: context.merchants),
        ]
    }
}
