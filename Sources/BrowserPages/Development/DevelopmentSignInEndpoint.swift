public import Authentication
import Directory
import HTTP
public import HTTPSupport
import Logging
import OAuth
import Pages
import Values

/// `/development/sign-in`: signs in any user, and lets the developer choose what the app gets. In development mode
/// only.
public struct DevelopmentSignInEndpoint: Endpoint {
    static let path = "/development/sign-in"

    private let pages: PageRenderer
    private let signIn: DevelopmentSignIn
    private let newSessions: NewSessions
    private let restoring: Restoring

    public init(pages: PageRenderer, signIn: DevelopmentSignIn, newSessions: NewSessions, verifications: Verifications)
    {
        self.pages = pages
        self.signIn = signIn
        self.newSessions = newSessions
        restoring = Restoring(pages: pages, verifications: verifications)
    }

    public func add(to router: inout Routes) {
        router.get("/development/sign-in", .showDevelopmentSignIn, isSafe: true, use: show)
        router.post("/development/sign-in", .signInForDevelopment, use: submit)
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        let query = Form.query(of: request.target.text)
        let visit = try await pages.visit(request, to: try await pages.destination(query["continue"], request))
        let asked = visit.destination?.interaction?.form
        let session = try await newSessions.sessions.of(request, pages.site)
        let known = asked?[Parameter.loginHint.rawValue] ?? session?.email
        let input = DevelopmentInput(
            name: known.flatMap { DevelopmentName($0)?.text } ?? "",
            lifetime: asked?[DevelopmentLogin.Field.idTokenLifetime] ?? visit.client.map {
                String($0.openID.idTokenLifetime.seconds)
            } ?? "",
            givesRefreshToken: asked?[DevelopmentLogin.Field.refreshToken] != "0")
        return page(request, visit, input)
    }

    private func page(
        _ request: Request, _ visit: PageContext, _ input: DevelopmentInput,
        fault: DevelopmentSignInPage.Fault? = nil
    ) -> Response {
        let form = pages.forms.issue(request)
        let choices = DevelopmentSignInPage.Choices(
            lifetime: input.lifetime, givesRefreshToken: input.givesRefreshToken,
            errors: DevelopmentError.all.map(\.rawValue))
        let page = DevelopmentSignInPage(
            action: Self.path, formToken: form.token, continueTo: visit.destination?.text ?? "", name: input.name,
            clientName: visit.client?.name, choices: visit.destination?.interaction == nil ? nil : choices, fault: fault
        )
        let response = pages.page(
            pages.templates.developmentSignIn(page, in: visit.frame), visit, status: fault == nil ? .ok : .badRequest,
            cookies: [form.setCookie], formsLeaveSite: visit.destination?.interaction != nil)
        return fault.map { response.because(of: $0.refusal) } ?? response
    }

    @Sendable private func submit(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        let visit = try await pages.visit(request, to: try await pages.destination(form["continue"], request))
        guard pages.forms.accepts(form, of: request) else { return pages.foreignForm(request, visit) }
        let input = DevelopmentInput(form)
        if form["outcome"] == "error", let asked = visit.destination?.interaction?.form,
            let refusal = DevelopmentError.named(form["error"] ?? "")
        {
            return try await pages.authorizing(asked, request, context, isKnown: { _ in true }) { _ in throw refusal }
        }
        guard let name = DevelopmentName(input.name) else { return page(request, visit, input, fault: .name) }
        guard let trial = TokenTrial(seconds: input.lifetime, givesRefreshToken: input.givesRefreshToken) else {
            return page(request, visit, input, fault: .lifetime)
        }
        let newSession = try await newSessions.newSession(request, by: .password, at: visit, trying: trial)
        switch try await signIn.enter(as: name, newSession.opening, replacing: newSession.replaces) {
        case .signedIn(let user):
            context.logger.warning(
                "development sign-in without a password", metadata: ["account": "\(user)"])
            return .sendBrowser(to: newSession.onward ?? "/login", status: .seeOther, cookies: newSession.cookies)
        case .leaving(let user):
            return try await restoring.offer(user, by: .password, request, visit)
                ?? page(request, visit, input, fault: .disabled)
        case .disabled: return page(request, visit, input, fault: .disabled)
        case .addressTaken: return page(request, visit, input, fault: .taken)
        }
    }
}

/// The values of the form.
private struct DevelopmentInput {
    let name: String
    let lifetime: String
    let givesRefreshToken: Bool
}

extension DevelopmentInput {
    init(_ form: Form) {
        self.init(
            name: form["username"] ?? "", lifetime: form["id_token_lifetime"] ?? "",
            givesRefreshToken: form["refresh_token"] == "1")
    }
}

/// The errors that a developer can choose as the answer to an authorization request, to test how the app handles them.
enum DevelopmentError {
    /// The first is a user's refusal. The others are from RFC 6749 §4.1.2.1 and OpenID Connect Core §3.1.2.6.
    static let all: [OAuthError.Code] = [
        .accessDenied, .invalidRequest, .unauthorizedClient, .invalidScope, .serverError, .temporarilyUnavailable,
        .loginRequired, .interactionRequired, .consentRequired,
    ]

    /// Nil for an error that is not among them.
    static func named(_ text: String) -> OAuthError? {
        all.first { $0.rawValue == text }.map { code in
            // The text of Sync Gateway's own test provider, which apps may have been tested with.
            let hint = code == .invalidRequest ? "User failed authentication" : "Chosen at the development sign-in."
            return OAuthError(code, "development_error", hint)
        }
    }
}

extension DevelopmentSignInPage.Fault {
    fileprivate var refusal: NamedRefusal {
        switch self {
        case .name: NamedRefusal("development_name")
        case .lifetime: NamedRefusal("development_lifetime")
        case .disabled: NamedRefusal("disabled_user")
        case .taken: NamedRefusal("address_taken")
        }
    }
}
