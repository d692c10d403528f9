public import Authentication
import Cryptography
import Directory
import HTTP
public import HTTPSupport
import OAuth
import Pages
import Text
import Values

/// `GET` and `POST /password`: resets a forgotten password, by a link mailed to the user's address.
public struct PasswordEndpoint: Endpoint {
    static let path = PagePath.forgottenPassword
    private let pages: PageRenderer
    private let verifications: Verifications
    private let signIn: MailSignIn
    private let reset: PasswordReset
    private let newSessions: NewSessions
    private let mail: MailComposer
    private let users: Users

    public init(
        pages: PageRenderer, verifications: Verifications, signIn: MailSignIn, reset: PasswordReset,
        newSessions: NewSessions, mail: MailComposer, users: Users
    ) {
        self.pages = pages
        self.verifications = verifications
        self.signIn = signIn
        self.reset = reset
        self.newSessions = newSessions
        self.mail = mail
        self.users = users
    }

    public func add(to router: inout Routes) {
        router.get("\(Self.path)", .showForgottenPassword, isSafe: true, use: show)
        router.post("\(Self.path)", .askForReset, use: ask)
        router.get("\(Self.path)/reset/{link}", .showReset, isSafe: true, use: open)
        router.post("\(Self.path)/reset/{link}", .resetPassword, use: set)
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        let query = Form.query(of: request.target.text)
        let destination = try await pages.destination(query["continue"], request)
        return forgotten(request, try await pages.visit(request, to: destination))
    }

    private func forgotten(
        _ request: Request, _ visit: PageContext, email: String = "", refusal: PageRefusal? = nil,
        status: Status = .ok
    ) -> Response {
        let form = pages.forms.issue(request)
        let page = ForgottenPage(
            action: Self.path, formToken: form.token, continueTo: visit.destination?.text ?? "", email: email,
            refusal: refusal)
        return pages.page(
            pages.templates.forgotten(page, in: visit.frame), visit.framable, status: status,
            cookies: [form.setCookie], refusal: refusal)
    }

    /// The response is the same whether or not the user exists.
    @Sendable private func ask(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        let visit = try await pages.visit(request, to: try await pages.destination(form["continue"], request))
        guard pages.forms.accepts(form, of: request) else { return pages.foreignForm(request, visit) }
        guard let email = EmailAddress(reachable: form["email"]) else {
            return forgotten(
                request, visit, email: form["email"] ?? "", refusal: .notAnAddress, status: .badRequest)
        }
        let user = try await signIn.user(of: email)
        if let user { request.note(user) }
        let draft = verifications.draft(
            .resetPassword, email: email.text, user: user, browser: pages.forms.browser(request),
            continueTo: visit.destination?.text ?? "")
        let template = MailTemplate.resetPassword(
            link: mail.link("\(Self.path)/reset/\(draft.link?.value ?? "")"),
            hours: Int((Verification.Purpose.resetPassword.linkLifetime ?? .zero).seconds / 3600))
        let post = mail.reply(template, to: email, visit)
        let asked = try await verifications.ask(
            draft, from: newSessions.address(request), device: newSessions.device(request), hasReader: user != nil,
            post: pages.keeping(visit.destination, for: .resetPassword, with: post))
        mail.send()
        if case .wait(let wait) = asked {
            return forgotten(
                request, visit, email: email.text, refusal: .tooManyAttempts(seconds: wait.wholeSeconds),
                status: .tooManyRequests
            ).asking(toWait: wait)
        }
        let again = Self.path + (visit.destination.map { "?continue=\(PercentEncoding.encode($0.text))" } ?? "")
        return pages.message(.checkMail, visit, values: ["email": email.text, "again": again], status: .ok)
    }

    @Sendable private func open(_ request: Request, context: SpindleContext) async throws -> Response {
        switch try await verifications.look(at: try link(context), .resetPassword) {
        case .failure(let refusal): return pages.spentLink(refusal, try await pages.visit(request))
        case .success(let verification):
            let visit = try await pages.visit(request, of: verification)
            return try newPassword(verification, request, visit, context)
        }
    }

    private func newPassword(
        _ verification: Verification, _ request: Request, _ visit: PageContext, _ context: SpindleContext,
        refusal: PageRefusal? = nil
    ) throws -> Response {
        let form = pages.forms.issue(request)
        let page = NewPasswordPage(
            action: "\(Self.path)/reset/\(try link(context).value)", formToken: form.token,
            email: verification.email, refusal: refusal)
        return pages.page(
            pages.templates.newPassword(page, in: visit.frame), visit, status: refusal == nil ? .ok : .badRequest,
            cookies: [form.setCookie], formsLeaveSite: true, refusal: refusal)
    }

    @Sendable private func set(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        guard pages.forms.accepts(form, of: request) else {
            return pages.foreignForm(request, try await pages.visit(request))
        }
        let link = try link(context)
        let verification: Verification
        let attempt = verifications.attempt(with: .link(link), in: pages.forms.cookie(of: request))
        switch try await verifications.look(at: link, .resetPassword, by: attempt) {
        case .failure(let refusal): return pages.spentLink(refusal, try await pages.visit(request))
        case .success(let found): verification = found
        }
        let visit = try await pages.visit(request, of: verification)
        do {
            var user: User?
            if let id = verification.user { user = try await users.find(id) }
            let password = try Password(
                form["password"] ?? "",
                personal: (user?.wordsAboutThem ?? [verification.email]) + [visit.frame.brand?.name ?? ""])
            let post = mail.post(
                .passwordChanged(resetLink: mail.link(Self.path)), to: verification.email, visit)
            // In another browser the user has seen no page about the request, which another user may have begun.
            let newSession = try await newSessions.newSession(
                request, by: .mail, at: visit, sawPage: newSessions.isOwn(visit.destination, request), after: attempt,
                renewsDevice: true)
            let outcome = try await reset.finish(
                link, by: attempt, password: password, opening: newSession.opening, replacing: newSession.replaces
            ) { _, db in try post(db) }
            mail.send()
            switch outcome {
            case .failure(let refusal): return pages.spentLink(refusal, visit)
            case .success(let outcome):
                // A user who is about to be deleted is not signed in: then a request continues only in its own browser.
                let isHere = visit.destination?.interaction?.isOf(pages.forms.browser(request)?.ofInteraction) ?? true
                let onward = outcome.isSignedIn || isHere ? newSession.onward : nil
                if !outcome.isSignedIn, onward == nil, let dueAt = user?.deletionDueAt {
                    // Nor to the account page, where another user may be signed in.
                    return pages.message(
                        .accountDeletionScheduled, visit, values: ["dueAt": dueAt.dayText], status: .ok)
                }
                return .sendBrowser(
                    to: onward ?? "/account?done=password", status: .seeOther,
                    cookies: outcome.isSignedIn ? newSession.cookies : [])
            }
        } catch let fault as Authentication.PasswordFault {
            return try newPassword(verification, request, visit, context, refusal: .weakPassword(fault.onPage))
        } catch is HashingPoolFull {
            let error = OAuthError.signInsOverloaded
            var response = try newPassword(verification, request, visit, context, refusal: .overloaded)
            response.status = error.status
            error.decorate(&response.headers)
            return response.because(of: error)
        }
    }

    private func link(_ context: SpindleContext) throws -> Secret<Verification> {
        Secret(try context.parameters.require("link"))
    }
}

extension Authentication.PasswordFault {
    /// The same fault, for a page.
    var onPage: Pages.PasswordFault {
        switch self {
        case .tooShort: .tooShort
        case .tooLong: .tooLong
        case .common: .common
        case .personal: .personal
        }
    }
}
