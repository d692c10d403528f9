public import Authentication
import Directory
public import HTTPSupport
public import OAuth
public import OpenID
import Outbound
import Values

/// `/oauth/authorize`, consent, logout, and what scripts of clients' pages ask about the browser session.
public struct AuthorizationFeature: Feature {
    public let endpoints: [any Endpoint]

    public init(
        _ context: ServerContext, _ oauth: OAuthServices, _ openID: OpenIDServices,
        _ authentication: AuthenticationServices, pages: PageRenderer
    ) {
        let (clients, clock, site) = (context.clients, context.clock, context.site)
        let sessions = authentication.sessions
        let hosts = HostSessions(sessions: sessions)
        let signIns = NoticedSignIns(database: context.database)
        let pageSessions = PageSessions(site: site, sessions: sessions, hosts: hosts, signIns: signIns, clock: clock)
        let knownUsers = KnownUsers(
            sessions: pageSessions, apps: oauth.apps, introductions: oauth.introductions,
            sessionClients: oauth.sessionClients)
        let reports = SessionReports(
            site: site, knownUsers: knownUsers, users: context.users, names: openID.names,
            agreements: oauth.agreements, signSecrets: context.signSecrets, clock: clock)
        endpoints = [
            AuthorizeEndpoint(
                pages: pages,
                answers: AuthorizationAnswers(
                    codes: oauth.codes,
                    direct: FrontChannelTokens(
                        database: context.database, mint: openID.bearer, clock: clock, random: context.random,
                        charge: oauth.charge),
                    ids: openID.idTokens, issuer: site.issuer, clock: clock),
                requestedSubject: RequestedSubject(names: openID.names, hints: openID.hints),
                requestObjects: RequestObjects(
                    keys: oauth.clientKeys, addresses: RequestAddresses(askedBy: context.outbound),
                    issuer: site.issuer, replays: oauth.replays, clock: clock),
                consents: oauth.consents, introductions: oauth.introductions, sessionClients: oauth.sessionClients,
                sessions: sessions, users: context.users, clock: clock),
            PickEndpoint(pages: pages, sessions: sessions, hosts: hosts, signIns: signIns, clock: clock),
            ConsentEndpoint(
                pages: pages, consents: oauth.consents, introductions: oauth.introductions,
                sessions: sessions, clock: clock),
            HasSessionEndpoint(clients: clients, reports: reports, site: site),
            SessionServiceEndpoint(
                clients: clients, reports: reports, names: openID.names, sessions: pageSessions),
            SessionRenewEndpoint(
                site: site, clients: clients, sessions: sessions, hosts: hosts, sessionClients: oauth.sessionClients,
                clock: clock, random: context.random),
            AjaxEndpoint(
                site: site, clients: clients, sessions: sessions, apps: oauth.apps,
                introductions: oauth.introductions, sessionClients: oauth.sessionClients, agreements: oauth.agreements,
                clock: clock),
            UserContextEndpoint(clients: clients, users: context.users, knownUsers: knownUsers),
            NoProductsEndpoint(clients: clients, clock: clock),
            FlowEndpoint(pages: pages),
            LogoutEndpoint(
                pages: pages, tokens: oauth.accessTokens, families: context.families, sessions: sessions,
                sessionClients: oauth.sessionClients, hints: openID.hints, clock: clock),
        ]
    }
}

extension RequestAddresses {
    fileprivate init(askedBy outbound: Outbound) {
        self.init { address, client, browser in
            let answer = try await outbound.asking(
                for: .requestObject, by: client.id.text, of: client.outboundShare, part: browser
            ).get(address, accept: "application/oauth-authz-req+jwt, application/jwt", limit: Self.longestObject)
            guard answer.status == 200 else { throw OutboundError.unreachable }
            return answer.body
        }
    }
}
