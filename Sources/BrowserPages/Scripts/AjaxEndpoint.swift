import Authentication
public import Directory
import HTTP
public import HTTPSupport
import JSON
public import OAuth
public import Values

/// `/ajax/logout.js`, `/ajax/acceptAgreement.js`: actions of a client's web page for its user, by a script.
public struct AjaxEndpoint: Endpoint {
    private let site: Site
    private let clients: Clients
    private let sessions: Sessions
    private let apps: ConnectedApps
    private let introductions: Introductions
    private let sessionClients: SessionClients
    private let agreements: Agreements
    private let clock: any WallClock

    public init(
        site: Site, clients: Clients, sessions: Sessions, apps: ConnectedApps, introductions: Introductions,
        sessionClients: SessionClients, agreements: Agreements, clock: any WallClock
    ) {
        self.site = site
        self.clients = clients
        self.sessions = sessions
        self.apps = apps
        self.introductions = introductions
        self.sessionClients = sessionClients
        self.agreements = agreements
        self.clock = clock
    }

    public func add(to router: inout Routes) {
        router.get("/ajax/logout.js", .signOutByScript) { request, context in
            try await act(request, context) { client in try await signOut(request, client) }
        }
        router.get("/ajax/acceptAgreement.js", .acceptTermsByScript) { request, context in
            try await act(request, context) { client in try await accept(request, client) }
        }
    }

    /// A script acts by GET, so the request must come from a script element: a page of a good origin may contain images
    /// and links that its users posted.
    private func act(
        _ request: Request, _ context: SpindleContext, _ work: (Client) async throws -> ScriptCall.Answer
    ) async throws -> Response {
        guard request.headers[.secFetchDest].map({ $0 == "script" }) ?? true else {
            return .plain("Only a script element may load this URL.", status: .forbidden).because("not_a_script")
        }
        return try await ScriptCall.answer(request, context, clients: clients) { client in
            // Third-party clients must not decide for their users.
            client.may(.actForUsers) ? try await work(client) : Self.notOwn
        }
    }

    private func signOut(_ request: Request, _ client: Client) async throws -> ScriptCall.Answer {
        // The user is signed out already, as the page wants. Other users of this browser may be unrelated to the
        // client.
        let browser = try await sessions.all(of: request, site)
        guard let session = browser.current?.session else { return Self.done }
        guard try await isOf(client, session) else { return browser.signedIn == nil ? Self.done : Self.noSession }
        // A session that was set aside would sign the same user in again.
        let own = browser.sessions(of: session.user).filter { $0.origin.isGood(for: client) }
        try await sessions.end(own.map(\.id))
        return ScriptCall.Answer(json: Self.done.json, cookies: [site.clearedSessionCookie])
    }

    /// Accepts the platform's terms and the client's.
    private func accept(_ request: Request, _ client: Client) async throws -> ScriptCall.Answer {
        guard let session = try await sessions.of(request, site), try await isOf(client, session) else {
            return Self.noSession
        }
        try await agreements.accept(agreements.terms(for: client), by: session.user, at: clock.now)
        return Self.done
    }

    /// Whether the user is connected to the client: a merchant must not decide for other users.
    private func isOf(_ client: Client, _ session: Session) async throws -> Bool {
        guard session.origin.isGood(for: client),
            try await !introductions.isDue(session.user, to: client, in: session.id),
            try await !sessionClients.isGone(session.id, from: client.id),
            try await apps.isAllowed(client, by: session.user)
        else { return false }
        return try await apps.scope(of: client, for: session.user) != nil
    }

    private static let done = ScriptCall.Answer(json: .members(["result": .bool(true)]))
    private static let notOwn = ScriptCall.Answer(
        json: ScriptCall.refusal(403, "The client must be its merchant's own (first_party).", response: []))
    private static let noSession = ScriptCall.Answer(
        json: ScriptCall.refusal(401, "No session found!", response: []))
}
