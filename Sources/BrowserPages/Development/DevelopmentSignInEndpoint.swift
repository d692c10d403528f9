public import Authentication
import Directory
import HTTP
public import HTTPSupport
import Logging
import OAuth
import Pages
import Values

/// `/development/sign-in`: anybody signs in as anybody, and chooses what the app gets. There only in development mode.
public struct DevelopmentSignInEndpoint: Endpoint {
    static let path = "/development/sign-in"

    private let pages: PageRenderer
    private let signIn: DevelopmentSignIn
    private let arrivals: NewSessions
    private let restoring: Restoring

    public init(pages: PageRenderer, signIn: DevelopmentSignIn, arrivals: NewSessions, verifications: Verifications) {
        self.pages = pages
        self.signIn = signIn
        self.arrivals = arrivals
        restoring = Restoring(pages: pages, verifications: verifications)
    }

    public func add(to router: inout Routes) {
        router.get("/development/sign-in", use: show)
        router.post("/development/sign-in", use: submit)
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        let onward = OnwardPath(Form.query(of: request.target.text)["continue"])
        let visit = try await pages.visit(request, continueTo: onward?.text)
        let asked = onward?.request
        let session = try await arrivals.sessions.of(request, pages.site)
        let known = asked?[Parameter.loginHint.rawValue] ?? session?.email
        let wish = DevelopmentWish(
            name: known.flatMap { DevelopmentName($0)?.text } ?? "",
            lifetime: asked?[.idTokenLifetime] ?? visit.client.map { String($0.openID.idTokenLifetime.seconds) } ?? "",
            givesRefreshToken: asked?[.refreshToken] != "0")
        return page(request, visit, onward, wish)
    }

    private func page(
        _ request: Request, _ visit: PageContext, _ onward: OnwardPath?, _ wish: DevelopmentWish,
        fault: DevelopmentSignInPage.Fault? = nil
    ) -> Response {
        let form = pages.forms.issue(request)
        let choices = DevelopmentSignInPage.Choices(
            lifetime: wish.lifetime, givesRefreshToken: wish.givesRefreshToken,
            errors: DevelopmentError.all.map(\.rawValue))
        let page = DevelopmentSignInPage(
            action: Self.path, formToken: form.token, continueTo: onward?.text ?? "", name: wish.name,
            clientName: visit.client?.name, choices: onward?.request == nil ? nil : choices, fault: fault)
        return pages.page(
            pages.templates.developmentSignIn(page, in: visit.frame), visit, status: fault == nil ? .ok : .badRequest,
            cookies: [form.setCookie], formsLeaveSite: onward?.request != nil)
    }

    @Sendable private func submit(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        let onward = OnwardPath(form["continue"])
        let visit = try await pages.visit(request, continueTo: onward?.text)
        guard pages.forms.accepts(form, of: request) else { return pages.foreignForm(visit) }
        let wish = DevelopmentWish(form)
        if form["outcome"] == "error", let asked = onward?.request,
            let refusal = DevelopmentError.named(form["error"] ?? "")
        {
            return try await pages.authorizing(asked, request, context, isKnown: { _ in true }) { _ in throw refusal }
        }
        guard let name = DevelopmentName(wish.name) else { return page(request, visit, onward, wish, fault: .name) }
        guard let trial = TokenTrial(seconds: wish.lifetime, givesRefreshToken: wish.givesRefreshToken) else {
            return page(request, visit, onward, wish, fault: .lifetime)
        }
        let arrival = try await arrivals.arrival(request, by: .password, at: visit)
        switch try await signIn.enter(as: name, arrival.opening, replacing: arrival.replaces?.id) {
        case .signedIn(let user):
            context.logger.warning(
                "development sign-in: nobody was asked for a password", metadata: ["account": "\(user)"])
            let way = onward.map { $0.request?.trying(trial).onward ?? $0.text }
            return .sendBrowser(
                to: pages.way(way, of: arrival) ?? "/login", status: .seeOther, cookies: arrival.cookies)
        case .deletionPending(let user, let dueAt):
            return try await restoring.offer(
                user, email: name.email, dueAt: dueAt, by: .password, onward: onward, request, visit)
        case .disabled: return page(request, visit, onward, wish, fault: .disabled)
        case .addressTaken: return page(request, visit, onward, wish, fault: .taken)
        }
    }
}

/// What stands in the form.
private struct DevelopmentWish {
    let name: String
    let lifetime: String
    let givesRefreshToken: Bool
}

extension DevelopmentWish {
    init(_ form: Form) {
        self.init(
            name: form["username"] ?? "", lifetime: form["id_token_lifetime"] ?? "",
            givesRefreshToken: form["refresh_token"] == "1")
    }
}

extension OnwardPath {
    /// The authorization request that it goes back to.
    fileprivate var request: Form? { authorizationRequest.flatMap { try? Form.parse($0) } }
}
