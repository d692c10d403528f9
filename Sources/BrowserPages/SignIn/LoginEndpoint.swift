public import Authentication
import Directory
import HTTP
public import HTTPSupport
import OAuth
import Pages
import Storage
import Values

/// `GET` and `POST /login`: signs a user in to a browser with a password.
public struct LoginEndpoint: Endpoint {
    private let pages: PageRenderer
    private let signIn: PasswordSignIn
    private let newSessions: NewSessions
    private let restoring: Restoring

    public init(pages: PageRenderer, signIn: PasswordSignIn, newSessions: NewSessions, verifications: Verifications) {
        self.pages = pages
        self.signIn = signIn
        self.newSessions = newSessions
        restoring = Restoring(pages: pages, verifications: verifications)
    }

    public func add(to router: inout Routes) {
        router.get("/login", .showSignIn, isSafe: true, use: show)
        router.post("/login", .signIn, use: submit)
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        let query = Form.query(of: request.target.text)
        if query.isAuthorizationRequest { return try await pages.entering("/flow/login", query, request) }
        let visit = try await pages.visit(request, to: try await pages.destination(query["continue"], request))
        let session = try await newSessions.sessions.of(request, pages.site)
        let confirms = query["confirm"] == "1" && session != nil
        guard let session, visit.destination == nil, !confirms else {
            if let development = pages.development, query["page"] != DevelopmentLogin.forUsers {
                return .sendBrowser(to: development.way(for: query), status: .seeOther)
            }
            let email = confirms ? session?.email ?? "" : ""
            return try await page(
                request, visit, session, email: email, isConfirmation: confirms && !email.isEmpty,
                isAnew: query["anew"] == "1")
        }
        let form = pages.forms.issue(request, to: session.user)
        let signedIn = SignedInPage(
            account: session.displayName, formToken: form.token, logoutAction: "/logout",
            hasAccount: session.origin == .signIn)
        return pages.page(pages.templates.signedIn(signedIn, in: visit.frame), visit, cookies: [form.setCookie])
    }

    private func page(
        _ request: Request, _ visit: PageContext, _ session: Session?, email: String,
        isRemembered: Bool = false, isConfirmation: Bool = false, isAnew: Bool, refusal: PageRefusal? = nil,
        status: Status = .ok
    ) async throws -> Response {
        let form = pages.forms.issue(request)
        let isAnew = isAnew || visit.wantsFreshness
        let login = LoginPage(
            action: "/login", formToken: form.token, continueTo: visit.destination?.text ?? "", email: email,
            isRemembered: isRemembered, clientName: visit.client?.name, isConfirmation: isConfirmation,
            wantsAnew: isAnew,
            ways: try await pages.ways(for: visit, of: session, isAnew: isAnew),
            cancel: visit.cancel(at: pages.site), refusal: refusal)
        return pages.page(
            pages.templates.login(login, in: visit.frame), visit.framable, status: status, cookies: [form.setCookie],
            formsLeaveSite: visit.destination?.interaction != nil, refusal: refusal)
    }

    @Sendable private func submit(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        let visit = try await pages.visit(request, to: try await pages.destination(form["continue"], request))
        guard pages.forms.accepts(form, of: request) else { return pages.foreignForm(request, visit) }
        let (email, isRemembered) = (form["email"] ?? "", form.remembers)
        do {
            let proof = try await signIn.check(
                username: email, password: form["password"] ?? "", address: newSessions.address(request),
                device: newSessions.device(request),
                login: newSessions.login(request, client: visit.client))
            if let leaving = proof.leaving {
                let page = try await restoring.offer(
                    leaving, by: .password, isRemembered: isRemembered, request, visit)
                guard let page else { throw PasswordSignIn.Refusal.wrong(reason: "password_changed_meanwhile") }
                return page
            }
            let newSession = try await newSessions.newSession(
                request, by: .password, at: visit, isRemembered: isRemembered)
            guard
                try await newSessions.sessions.open(newSession.opening, by: proof, replacing: newSession.replaces)
            else { throw PasswordSignIn.Refusal.wrong(reason: "password_changed_meanwhile") }
            return .sendBrowser(
                to: newSession.onward ?? "/login", status: .seeOther,
                cookies: try await newSessions.cookies(of: newSession))
        } catch let refusal as PasswordSignIn.Refusal {
            let oauth = refusal.oauthError
            let session =
                form["confirm"] == "1" ? try await newSessions.sessions.of(request, pages.site) : nil
            var response = try await page(
                request, visit, session, email: email, isRemembered: isRemembered == true,
                isConfirmation: session?.email == email, isAnew: form["anew"] == "1",
                refusal: refusal.onPage, status: oauth.status)
            oauth.decorate(&response.headers)
            return response.because(of: oauth)
        }
    }
}

extension PageContext {
    /// How to leave the login page of `site` without signing in: only an authorization request has an address for that.
    func cancel(at site: Site) -> LoginPage.Cancel? {
        guard let interaction = destination?.interaction else { return nil }
        if let text = interaction.form[.cancelRedirectURI], !text.isEmpty,
            client?.cancelURI(text, besides: site.origin) == nil
        {
            return nil
        }
        return LoginPage.Cancel(action: ConsentEndpoint.path, request: interaction.id.value)
    }
}

extension Session {
    /// The user's name on a page.
    var displayName: String { email ?? "user \(user)" }
}
