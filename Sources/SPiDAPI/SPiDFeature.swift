public import Authentication
import Directory
public import Federation
public import HTTPSupport
public import OAuth
import SPiD

/// `/api/2/…`, SPiD's interface for backends, and codes by mail or text message for its apps.
public struct SPiDFeature: Feature {
    public let endpoints: [any Endpoint]

    /// - Parameters:
    ///   - version: what `/status` says.
    ///   - grants: the grant types that it says.
    ///   - limit: how many calls a client may make in an hour.
    ///   - privacy: the address of the platform's privacy policy.
    public init(
        _ context: ServerContext, _ oauth: OAuthServices, _ authentication: AuthenticationServices,
        _ federation: FederationServices, pages: PageRenderer, version: String, grants: [any Grant], limit: Int,
        privacy: String?
    ) {
        let (database, clock, clients, mail) = (context.database, context.clock, context.clients, context.mail)
        let users = ConnectedUsers(database: database)
        let connections = Connections(database: database)
        let merchants = MerchantNumbers(database: database)
        let finder = UserFinder(connectedUsers: users, connections: connections, merchants: merchants)
        let codes = PasswordlessCodes(
            passwordless: authentication.passwordless, verifications: authentication.verifications,
            signUp: authentication.appSignUp, pages: pages, mail: mail, texts: context.texts)
        let resources: [any SPiDResource] = [
            ExchangeResource(codes: oauth.exchangeCodes),
            ProviderResource(
                users: ProviderUsers(
                    database: database, assertions: federation.providerAssertions, clock: clock,
                    random: context.random),
                connectedUsers: users, connections: connections, merchants: merchants, pages: pages, mail: mail,
                clock: clock),
            StatusResource(version: version, grantTypes: grants.map { type(of: $0).type }, clock: clock),
            ClientResource(clients: clients, merchants: context.merchants),
            AgreementResource(
                agreements: oauth.agreements, clients: clients, connectedUsers: users, connections: connections,
                merchants: merchants, privacy: privacy, clock: clock),
            TokenAuthenticationResource(
                tokens: oauth.accessTokens, clients: clients, merchants: merchants, clock: clock),
            LogoutResource(families: context.families, clock: clock),
            UserResource(
                connectedUsers: users, connections: connections, merchants: merchants, clients: clients,
                apps: oauth.apps,
                signSecrets: context.signSecrets, clock: clock),
            UserChangeResource(
                users: context.users, connectedUsers: users, connections: connections, merchants: merchants,
                apps: oauth.apps,
                clock: clock),
            UserListResource(connectedUsers: users, clock: clock),
            EmailResource(connectedUsers: users),
            PhoneResource(connectedUsers: users),
            PasswordlessResource(codes: codes, address: context.address),
            SignUpResource(
                signUp: authentication.appSignUp, agreements: oauth.agreements, merchants: merchants, pages: pages,
                mail: mail, address: context.address),
            DeviceResource(connectedUsers: users, connections: connections, merchants: merchants),
            ProductResource(connectedUsers: users, connections: connections, merchants: merchants),
            DataObjectResource(
                objects: DataObjects(database: database, clock: clock), finder: finder, merchants: merchants),
            TriggerResource(
                finder: finder, users: context.users, signUp: authentication.appSignUp,
                verifications: authentication.verifications, pages: pages, mail: mail),
            LoginResource(
                logins: authentication.logins, connectedUsers: users, connections: connections, merchants: merchants),
        ]
        endpoints = [
            SPiDInterface(
                resources, tokens: oauth.accessTokens, families: context.families, clients: clients,
                authenticator: oauth.authenticator,
                signSecrets: context.signSecrets,
                allowance: RequestAllowance(limit: limit), address: context.address, clock: clock),
            PasswordlessEndpoint(
                codes: codes, clients: clients, authenticator: oauth.authenticator, address: context.address),
        ]
    }
}
