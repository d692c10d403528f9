public import Authentication
import Directory
import HTTP
public import HTTPSupport
import OAuth
import Pages
import Values

/// `GET` and `POST /signup/address/{link}`: a user whom an app signed up proves to read their address, and, by the
/// password chosen there, to have signed up themselves.
public struct AppSignUpEndpoint: Endpoint {
    private let pages: PageRenderer
    private let verifications: Verifications
    private let signUp: AppSignUp
    private let signIn: PasswordSignIn
    private let newSessions: NewSessions

    public init(
        pages: PageRenderer, verifications: Verifications, signUp: AppSignUp, signIn: PasswordSignIn,
        newSessions: NewSessions
    ) {
        self.pages = pages
        self.verifications = verifications
        self.signUp = signUp
        self.signIn = signIn
        self.newSessions = newSessions
    }

    public func add(to router: inout Routes) {
        router.get("\(PagePath.confirmAddress("{link}"))", .showAddressConfirmation, isSafe: true, use: show)
        router.post("\(PagePath.confirmAddress("{link}"))", .confirmAddress, use: confirm)
        AppReturnEndpoint(pages: pages).add(to: &router)
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        switch try await verifications.look(at: try link(context), .confirmAddress) {
        case .failure(let refusal): return pages.spentLink(refusal, try await pages.visit(request))
        case .success(let verification):
            return try page(verification, request, try await pages.visit(request, of: verification), context)
        }
    }

    @Sendable private func confirm(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        guard pages.forms.accepts(form, of: request) else {
            return pages.foreignForm(request, try await pages.visit(request))
        }
        let link = try link(context)
        let verification: Verification
        let attempt = verifications.attempt(with: .link(link), in: pages.forms.cookie(of: request))
        switch try await verifications.look(at: link, .confirmAddress, by: attempt) {
        case .failure(let refusal): return pages.spentLink(refusal, try await pages.visit(request))
        case .success(let found): verification = found
        }
        let visit = try await pages.visit(request, of: verification)
        do {
            let proof = try await signIn.check(
                username: verification.email, password: form["password"] ?? "",
                address: newSessions.address(request), device: newSessions.device(request),
                login: newSessions.login(request, client: visit.client))
            let newSession = try await newSessions.newSession(request, by: .password, at: visit, after: attempt)
            let outcome = try await signUp.confirm(
                link, by: attempt, proof: proof, opening: newSession.opening, replacing: newSession.replaces)
            switch outcome {
            case .failure(let refusal): return pages.spentLink(refusal, visit)
            case .success:
                return .sendBrowser(
                    to: newSession.onward ?? "/account", status: .seeOther,
                    cookies: try await newSessions.cookies(of: newSession))
            }
        } catch let refusal as PasswordSignIn.Refusal {
            let oauth = refusal.oauthError
            var response = try page(verification, request, visit, context, refusal: refusal)
            oauth.decorate(&response.headers)
            return response.because(of: oauth)
        }
    }

    private func page(
        _ verification: Verification, _ request: Request, _ visit: PageContext, _ context: SpindleContext,
        refusal: PasswordSignIn.Refusal? = nil
    ) throws -> Response {
        let form = pages.forms.issue(request)
        // The user does not type the address, so only the password can be wrong.
        let shown: PageRefusal? = if case .wrong = refusal { .wrongPassword } else { refusal?.onPage }
        let page = ConfirmAddressPage(
            action: PagePath.confirmAddress(try link(context).value), formToken: form.token, email: verification.email,
            clientName: visit.client?.name, refusal: shown)
        return pages.page(
            pages.templates.confirmAddress(page, in: visit.frame), visit, status: refusal?.oauthError.status ?? .ok,
            cookies: [form.setCookie], formsLeaveSite: true)
    }

    private func link(_ context: SpindleContext) throws -> Secret<Verification> {
        Secret(try context.parameters.require("link"))
    }
}
