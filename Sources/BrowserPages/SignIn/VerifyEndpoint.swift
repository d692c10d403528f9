public import Authentication
import Directory
import HTTP
public import HTTPSupport
import OAuth
import Pages
import Text
import Values

/// `GET` and `POST /verify`: a signed-in user proves to read their address.
///
/// Requires a sign-in here. An attacker who made a user with another user's address can lead its owner's browser into
/// a session of that user. The owner, who reads the code, must then take the user over by `/login/code`, which removes
/// the attacker's password, and not confirm the address for the attacker.
public struct VerifyEndpoint: Endpoint {
    static let path = "/verify"
    private let pages: PageRenderer
    private let verifications: Verifications
    private let addresses: AddressChange
    private let newSessions: NewSessions
    private let mail: MailComposer

    public init(
        pages: PageRenderer, verifications: Verifications, addresses: AddressChange, newSessions: NewSessions,
        mail: MailComposer
    ) {
        self.pages = pages
        self.verifications = verifications
        self.addresses = addresses
        self.newSessions = newSessions
        self.mail = mail
    }

    public func add(to router: inout Routes) {
        router.get("\(Self.path)", .showVerification, isSafe: true, use: show)
        router.post("\(Self.path)", .askForVerification, use: ask)
        router.get("\(codes.path)", .showVerificationCode, isSafe: true, use: showCode)
        router.post("\(codes.path)", .checkVerificationCode, use: check)
    }

    /// A request of a signed-in user with an address to verify.
    private struct Asking {
        let session: Session
        let email: EmailAddress
        let visit: PageContext
    }

    /// Nil when there is nothing to verify; `elsewhere` is then the path to go to.
    private func asking(_ request: Request, continueTo: String?) async throws -> (Asking?, elsewhere: String) {
        let destination = try await pages.destination(continueTo, request)
        let visit = try await pages.visit(request, to: destination)
        guard let session = try await signedIn(request) else {
            // An app's request leads back here if it needs to.
            let here = destination?.interaction?.id.value ?? OwnPage.verification.rawValue
            let isOther = try await newSessions.sessions.of(request, pages.site) != nil
            // A session that an app bought or an issuer asserted is no sign-in here: the page asks its user to confirm.
            return (nil, "/login?\(isOther ? "confirm=1&" : "")continue=\(PercentEncoding.encode(here))")
        }
        guard !session.emailVerified, let email = session.email.flatMap({ EmailAddress($0) }) else {
            return (nil, destination?.path ?? "/account")
        }
        return (Asking(session: session, email: email, visit: visit), Self.path)
    }

    private func signedIn(_ request: Request) async throws -> Session? {
        guard let session = try await newSessions.sessions.of(request, pages.site), session.origin == .signIn else {
            return nil
        }
        return session
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        let (asking, elsewhere) = try await asking(
            request, continueTo: Form.query(of: request.target.text)["continue"])
        guard let asking else { return .sendBrowser(to: elsewhere, status: .seeOther) }
        return page(asking, request)
    }

    private func page(
        _ asking: Asking, _ request: Request, refusal: PageRefusal? = nil, status: Status = .ok
    ) -> Response {
        let form = pages.forms.issue(request)
        let page = VerifyPage(
            action: Self.path, formToken: form.token, continueTo: asking.visit.destination?.text ?? "",
            email: asking.email.text, refusal: refusal)
        return pages.page(
            pages.templates.verify(page, in: asking.visit.frame), asking.visit, status: status,
            cookies: [form.setCookie], formsLeaveSite: true, refusal: refusal)
    }

    private var codes: VerificationForm {
        VerificationForm(
            pages: pages, verifications: verifications, purpose: .verifyEmail, wording: .verifyEmail,
            path: Self.path + "/check", start: Self.path)
    }

    @Sendable private func showCode(_ request: Request, context: SpindleContext) async throws -> Response {
        guard let session = try await signedIn(request) else {
            return .sendBrowser(to: codes.start, status: .seeOther)
        }
        return try await codes.show(request, of: session.user)
    }

    @Sendable private func ask(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        let (asking, elsewhere) = try await asking(request, continueTo: form["continue"])
        guard pages.forms.accepts(form, of: request) else {
            return pages.foreignForm(request, try await pages.visit(request))
        }
        guard let asking else { return .sendBrowser(to: elsewhere, status: .seeOther) }
        let draft = verifications.draft(
            .verifyEmail, email: asking.email.text, user: asking.session.user,
            browser: pages.forms.browser(request), continueTo: asking.visit.destination?.text ?? "")
        let template = MailTemplate.verifyEmail(
            code: draft.code ?? "", minutes: Int((Verification.Purpose.verifyEmail.codeLifetime ?? .zero).seconds / 60))
        let post = mail.reply(template, to: asking.email, asking.visit)
        let asked = try await verifications.ask(draft, from: newSessions.address(request), post: post)
        mail.send()
        if case .wait(let wait) = asked {
            return page(
                asking, request, refusal: .tooManyAttempts(seconds: wait.wholeSeconds), status: .tooManyRequests
            ).asking(toWait: wait)
        }
        return codes.ask(draft.verification.id)
    }

    @Sendable private func check(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        let (asking, elsewhere) = try await asking(request, continueTo: form["continue"])
        guard pages.forms.accepts(form, of: request) else {
            return pages.foreignForm(request, try await pages.visit(request))
        }
        guard let asking else { return .sendBrowser(to: elsewhere, status: .seeOther) }
        let key = codes.key(form, request)
        let outcome = try await addresses.verify(
            key, by: codes.attempt(key, request), session: asking.session, at: newSessions.place(request))
        switch outcome {
        case .failure(let refusal): return codes.refusal(refusal, form, request, asking.visit)
        case .success:
            // The page names no app, so an answer there does not count for a waiting request.
            return .sendBrowser(to: asking.visit.destination?.path ?? "/account?done=verified", status: .seeOther)
        }
    }
}
