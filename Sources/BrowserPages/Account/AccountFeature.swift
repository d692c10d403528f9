public import Authentication
public import Federation
public import HTTPSupport
public import OAuth

/// `/account`: what users see and change about themselves.
public struct AccountFeature: Feature {
    public let endpoints: [any Endpoint]

    public init(
        _ context: ServerContext, _ oauth: OAuthServices, _ authentication: AuthenticationServices,
        _ federation: FederationServices, pages: PageRenderer, sessions: NewSessions, access: UserAccess
    ) {
        let (users, mail) = (context.users, context.mail)
        let view = AccountView(
            pages: pages, users: users, sessions: authentication.sessionList, apps: oauth.apps,
            links: federation.subjects, hasTexts: context.texts != nil)
        endpoints = [
            AccountEndpoint(
                gate: access, view: view, users: users, sessions: authentication.sessionList, apps: oauth.apps,
                links: federation.subjects, mail: mail, clock: context.clock),
            AddressEndpoint(
                gate: access, view: view, users: users, verifications: authentication.verifications,
                addresses: authentication.addressChange, mail: mail),
            PhoneEndpoint(
                gate: access, users: users, verifications: authentication.verifications,
                phones: authentication.phoneVerification, mail: mail, texts: context.texts),
            AccountDataEndpoint(gate: access, data: authentication.personalData),
            DeletionEndpoint(
                gate: access, users: users, deletion: context.deletion, mail: mail, clock: context.clock),
            RestoreEndpoint(
                pages: pages, deletion: context.deletion, verifications: authentication.verifications,
                newSessions: sessions),
        ]
    }
}
