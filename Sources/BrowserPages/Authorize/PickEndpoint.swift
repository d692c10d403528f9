import Authentication
public import Directory
import HTTP
public import HTTPSupport
import JSON
import OAuth
import Pages
public import Values

/// `POST /login/pick`: which of the browser's users an app's request continues as, or none of them.
///
/// Only a form of ours changes the browser's cookies: a link cannot make another user the current one.
public struct PickEndpoint: Endpoint {
    static let path = "/login/pick"

    private let pages: PageRenderer
    private let sessions: Sessions
    private let hosts: HostSessions
    private let signIns: NoticedSignIns
    private let clock: any WallClock

    public init(
        pages: PageRenderer, sessions: Sessions, hosts: HostSessions, signIns: NoticedSignIns, clock: any WallClock
    ) {
        self.pages = pages
        self.sessions = sessions
        self.hosts = hosts
        self.signIns = signIns
        self.clock = clock
    }

    public func add(to router: inout Routes) {
        router.form(Self.path, .pickUser, from: "/login", use: pick)
    }

    @Sendable private func pick(_ http: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(http)
        guard pages.forms.accepts(form, of: http) else { return pages.foreignForm(http, try await pages.visit(http)) }
        guard let id = Interaction.ID(carried: form["request"]) else {
            return pages.brokenRequest(try await pages.visit(http))
        }
        let asked = try await pages.interaction(id, http)
        let browser = try await sessions.all(of: http, pages.site)
        guard form["decision"] != "another" else { return try await signInAsAnother(asked, browser) }
        // The session may have ended while the page was open: then the remaining users are shown, or the sign-in page.
        guard let chosen = browser.find(Session.ID(form["session"] ?? "")) else {
            return .sendBrowser(to: PagePath.authorize(asked.id), status: .seeOther)
        }
        try await pages.interactions.saw(asked, in: chosen.secret.fingerprint)
        try await signIns.note(SignedOutMarks(http, pages.site).fingerprints, at: clock.now)
        return try await send(to: PagePath.authorize(asked.id), in: browser, choosing: chosen)
    }

    /// Sets the current session aside, so that the next sign-in does not end it.
    private func signInAsAnother(_ asked: Interaction, _ browser: HeldSessions) async throws -> Response {
        guard let asked = try await pages.interactions.passOn(asked) else { throw InteractionGone() }
        return try await send(to: "/login?continue=\(asked.id.value)", in: browser, choosing: nil)
    }

    private func send(
        to path: String, in browser: HeldSessions, choosing chosen: HeldSessions.Held?
    ) async throws -> Response {
        let next = browser.choosing(chosen)
        try await sessions.displace((browser.surplus + next.surplus).map(\.id))
        // Sites must not continue with a user who is set aside.
        try await hosts.end(of: next.others.map(\.session.id))
        return .sendBrowser(to: path, status: .seeOther, cookies: next.cookies(pages.site))
    }
}

extension PageRenderer {
    /// Asks which of the users of `choices`, who are signed in to this browser, continues with `request`.
    func pick(
        among choices: [Session], for request: AuthorizationRequest, _ waiting: WaitingRequest, _ users: Users,
        _ http: Request
    ) async throws -> Response {
        let visit = try await visit(http, client: request.returnAddress.client, to: .request(waiting.interaction))
        var shown: [PickPage.Choice] = []
        for session in choices {
            let name = try await users.find(session.user)?.profile["name"]?.string
            shown.append(PickPage.Choice(session: session.id.text, name: name, address: session.displayName))
        }
        let page = PickPage(
            clientName: request.returnAddress.client.name, choices: shown, action: PickEndpoint.path,
            formToken: waiting.form.token, request: waiting.id, cancel: visit.cancel(at: site))
        return self.page(
            templates.pick(page, in: visit.frame), visit, cookies: [waiting.form.setCookie], formsLeaveSite: true)
    }
}
