public import Authentication
import Directory
import HTTP
public import HTTPSupport
import OAuth
import Pages
import Values

/// `POST /login/code`: signs a user in with a mailed code instead of a password.
public struct MailSignInEndpoint: Endpoint {
    private static let path = "/login/code"
    private let pages: PageRenderer
    private let verifications: Verifications
    private let signIn: MailSignIn
    private let newSessions: NewSessions
    private let mail: MailComposer

    public init(
        pages: PageRenderer, verifications: Verifications, signIn: MailSignIn, newSessions: NewSessions,
        mail: MailComposer
    ) {
        self.pages = pages
        self.verifications = verifications
        self.signIn = signIn
        self.newSessions = newSessions
        self.mail = mail
    }

    public func add(to router: inout Routes) {
        router.form(Self.path, .askForSignInCode, from: "/login", use: ask)
        router.get("\(codes.path)", .showSignInCode, isSafe: true) { request, _ in try await codes.show(request) }
        router.post("\(codes.path)", .checkSignInCode, use: check)
    }

    private var codes: VerificationForm {
        VerificationForm(
            pages: pages, verifications: verifications, purpose: .signIn, wording: .signIn,
            path: Self.path + "/check", start: "/login")
    }

    /// The response is the same whether or not the user exists.
    @Sendable private func ask(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        let visit = try await pages.visit(request, to: try await pages.destination(form["continue"], request))
        guard pages.forms.accepts(form, of: request) else { return pages.foreignForm(request, visit) }
        guard let email = EmailAddress(reachable: form["email"]) else {
            return try await login(request, visit, form, email: form["email"] ?? "", refusal: .notAnAddress)
        }
        let user = try await signIn.user(of: email)
        let draft = verifications.draft(
            .signIn, email: email.text, user: user, browser: pages.forms.browser(request),
            continueTo: visit.destination?.text ?? "")
        let template = MailTemplate.signInCode(
            code: draft.code ?? "", minutes: Int((Verification.Purpose.signIn.codeLifetime ?? .zero).seconds / 60))
        let post = mail.reply(template, to: email, visit)
        let asked = try await verifications.ask(
            draft, from: newSessions.address(request), device: newSessions.device(request), hasReader: user != nil,
            post: post)
        mail.send()
        if case .wait(let wait) = asked {
            return try await login(
                request, visit, form, email: email.text, refusal: .tooManyAttempts(seconds: wait.wholeSeconds),
                status: .tooManyRequests
            ).asking(toWait: wait)
        }
        return codes.ask(draft.verification.id, isRemembered: form.remembers)
    }

    @Sendable private func check(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        let visit = try await pages.visit(request, to: try await pages.destination(form["continue"], request))
        guard pages.forms.accepts(form, of: request) else { return pages.foreignForm(request, visit) }
        let isRemembered = request.asksToRemember
        let key = codes.key(form, request)
        let attempt = codes.attempt(key, request)
        let newSession = try await newSessions.newSession(
            request, by: .mail, at: visit, isRemembered: isRemembered, after: attempt)
        let outcome = try await signIn.finish(
            key, by: attempt, opening: newSession.opening, replacing: newSession.replaces)
        switch outcome {
        case .failure(let refusal): return codes.refusal(refusal, form, request, visit)
        case .success(.signedIn):
            return .sendBrowser(
                to: newSession.onward ?? "/login", status: .seeOther,
                cookies: try await newSessions.cookies(of: newSession))
        case .success(.offered(let offer, let leaving)):
            return Restoring(pages: pages, verifications: verifications)
                .page(offer, to: leaving, isRemembered: isRemembered, request, visit)
        }
    }

    private func login(
        _ request: Request, _ visit: PageContext, _ sent: Form, email: String,
        refusal: PageRefusal,
        status: Status = .badRequest
    ) async throws -> Response {
        let form = pages.forms.issue(request)
        let isAnew = sent["anew"] == "1" || visit.wantsFreshness
        let page = LoginPage(
            action: "/login", formToken: form.token, continueTo: visit.destination?.text ?? "", email: email,
            isRemembered: sent.remembers == true, clientName: visit.client?.name, wantsAnew: isAnew,
            ways: try await pages.ways(
                for: visit, of: try await newSessions.sessions.of(request, pages.site), isAnew: isAnew),
            cancel: visit.cancel(at: pages.site),
            refusal: refusal)
        return pages.page(
            pages.templates.login(page, in: visit.frame), visit.framable, status: status, cookies: [form.setCookie],
            formsLeaveSite: visit.destination?.interaction != nil, refusal: refusal)
    }
}
