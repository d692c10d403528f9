import Authentication
import Directory
import HTTP
import HTTPSupport
import OAuth
import Pages
import Storage
import Values

/// The link of a sign-up. In the browser that signed up it asks for a click, in any other for a new password. A user
/// who gets the mail without having signed up must not confirm their address for another user. They can sign up by it
/// themselves, even when others' sign-ups have used up the mails to their address.
struct SignUpLink: Sendable {
    let pages: PageRenderer
    let verifications: Verifications
    let signUp: SignUp
    let agreements: Agreements
    let newSessions: NewSessions

    @Sendable func show(_ request: Request, context: SpindleContext) async throws -> Response {
        switch try await verifications.look(at: try link(context), .signUp) {
        case .failure(let refusal): return pages.spentLink(refusal, try await pages.visit(request))
        case .success(let verification):
            return try page(verification, request, try await pages.visit(request, of: verification), context)
        }
    }

    @Sendable func confirm(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        guard pages.forms.accepts(form, of: request) else {
            return pages.foreignForm(request, try await pages.visit(request))
        }
        let link = try link(context)
        let verification: Verification
        let attempt = verifications.attempt(with: .link(link), in: pages.forms.cookie(of: request))
        switch try await verifications.look(at: link, .signUp, by: attempt) {
        case .failure(let refusal): return pages.spentLink(refusal, try await pages.visit(request))
        case .success(let found): verification = found
        }
        let visit = try await pages.visit(request, of: verification)
        do {
            // As with a link to a new password.
            let newSession = try await newSessions.newSession(
                request, by: .password, at: visit, sawPage: newSessions.isOwn(visit.destination, request),
                after: attempt)
            let outcome =
                if verification.wasTaken || verification.isFrom(pages.forms.browser(request)) {
                    try await signUp.finish(
                        .link(link), by: attempt, opening: newSession.opening, replacing: newSession.replaces)
                } else {
                    try await signUp.finish(
                        link, by: attempt,
                        choosing: Password(
                            form["password"] ?? "", personal: [verification.email, visit.frame.brand?.name ?? ""]),
                        agreed: Agreements.note(of: form.agreed(of: agreements.terms(for: visit.client))),
                        opening: newSession.opening, replacing: newSession.replaces)
                }
            switch outcome {
            case .failure(let refusal): return pages.spentLink(refusal, visit)
            case .success:
                return .sendBrowser(to: newSession.onward ?? "/account", status: .seeOther, cookies: newSession.cookies)
            }
        } catch let fault as Authentication.PasswordFault {
            return try page(verification, request, visit, context, refusal: .weakPassword(fault.onPage))
        } catch let refusal as PasswordSignIn.Refusal {
            let error = refusal.oauthError
            var response = try page(verification, request, visit, context, refusal: refusal.onPage)
            response.status = error.status
            error.decorate(&response.headers)
            return response.because(of: error)
        } catch StorageError.conflict {
            return pages.message(
                .accountExists, visit, values: ["email": verification.email], status: .conflict)
        }
    }

    private func page(
        _ verification: Verification, _ request: Request, _ visit: PageContext, _ context: SpindleContext,
        refusal: PageRefusal? = nil
    ) throws -> Response {
        let form = pages.forms.issue(request)
        let asksPassword = !verification.isFrom(pages.forms.browser(request))
        let terms = asksPassword ? agreements.terms(for: visit.client) : []
        let page = SignUpConfirmPage(
            action: "\(SignUpEndpoint.path)/confirm/\(try link(context).value)", formToken: form.token,
            email: verification.email, asksPassword: asksPassword,
            terms: terms.map { TermsLink($0, of: visit.client) }, refusal: refusal)
        return pages.page(
            pages.templates.signUpConfirm(page, in: visit.frame), visit, status: refusal == nil ? .ok : .badRequest,
            cookies: [form.setCookie], formsLeaveSite: true, refusal: refusal)
    }

    private func link(_ context: SpindleContext) throws -> Secret<Verification> {
        Secret(try context.parameters.require("link"))
    }
}
