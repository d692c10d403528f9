public import Cryptography
import HTTPTypes
public import Hummingbird
public import Identity
import Logging
import Pages
import Values

/// `GET` and `POST /login`: a person signs in to a browser.
public struct LoginEndpoint: Endpoint {
    private let pages: PageRenderer
    private let signIn: SignIn
    private let sessions: Sessions
    private let address: ClientAddress
    private let random: any RandomSource

    public init(
        pages: PageRenderer, signIn: SignIn, sessions: Sessions, address: ClientAddress, random: any RandomSource
    ) {
        self.pages = pages
        self.signIn = signIn
        self.sessions = sessions
        self.address = address
        self.random = random
    }

    public func add(to router: RouterGroup<SpindleContext>) {
        router.get("/login", use: show)
        router.post("/login", use: submit)
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = pages.forms.issue(request)
        if let session = try await sessions.of(request, pages.site) {
            let page = SignedInPage(account: session.displayName, formToken: form.token, logoutAction: "/logout")
            return .page(pages.templates.signedIn(page), cookies: [form.setCookie])
        }
        return login(form, continueTo: "")
    }

    private func login(
        _ form: FormGuard.Issued, continueTo: String, email: String = "", message: String? = nil,
        status: HTTPResponse.Status = .ok
    ) -> Response {
        .page(
            pages.templates.login(
                LoginPage(
                    action: "/login", formToken: form.token, continueTo: continueTo, email: email, message: message)),
            status: status, cookies: [form.setCookie], formsLeaveSite: !continueTo.isEmpty)
    }

    @Sendable private func submit(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try await Form.read(request)
        guard pages.forms.accepts(form, of: request) else { return pages.foreignForm }
        let email = form["email"] ?? ""
        let continueTo = Self.ownPath(form["continue"])
        do {
            let proof = try await signIn.check(
                username: email, password: form["password"] ?? "", address: address.of(request, context))
            let cookie = try await open(by: proof, request, context)
            return .sendBrowser(to: continueTo ?? "/login", status: .seeOther, cookies: [cookie])
        } catch let refusal as SignIn.Refusal {
            let oauth = refusal.oauthError
            oauth.log(to: context.logger)
            var response = login(
                pages.forms.issue(request), continueTo: continueTo ?? "", email: email, message: refusal.sentence,
                status: oauth.status)
            oauth.decorate(&response.headers)
            return response
        }
    }

    private func open(by proof: SignIn.Proof, _ request: Request, _ context: SpindleContext) async throws -> String {
        let secret = Secret<Session>.random(from: random)
        let opening = Session.Opening(
            id: .random(from: random), secret: secret, userAgent: request.headers[.userAgent] ?? "",
            address: address.of(request, context))
        let old = try await sessions.of(request, pages.site)
        guard try await sessions.open(opening, by: proof, replacing: old?.id) else {
            throw SignIn.Refusal.wrong(reason: "password_changed_meanwhile")
        }
        return pages.site.sessionCookie(secret)
    }

    /// A path that a sign-in may go on to: ours, and only where sign-ins come from. Nothing else is ever redirected to.
    static func ownPath(_ text: String?) -> String? {
        guard let text, text.hasPrefix(AuthorizeEndpoint.path + "?"), text.utf8.count <= 8192,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        else { return nil }
        return text
    }
}

extension Session {
    /// What a page calls the person.
    var displayName: String { email ?? "user \(account)" }
}
