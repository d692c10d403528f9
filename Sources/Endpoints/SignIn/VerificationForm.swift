import Hummingbird
import Identity
import Logging
import Pages
import Values

/// The form into which a mailed code is typed, and what it may come to.
struct VerificationForm: Sendable {
    let pages: PageRenderer
    let purpose: CodePage.Purpose
    let action: String
    /// Where a new code can be asked for.
    let startOver: String

    func page(
        _ request: Request, _ visit: Visit, verification: Verification.ID, email: String, onward: OnwardPath?,
        refusal: PageRefusal? = nil
    ) -> Response {
        let form = pages.forms.issue(request)
        let page = CodePage(
            action: action, formToken: form.token, verification: verification.text,
            continueTo: onward?.text ?? "", email: email, purpose: purpose, startOver: startOver, refusal: refusal)
        return pages.page(
            pages.templates.code(page, in: visit.frame), visit, status: refusal == nil ? .ok : .badRequest,
            cookies: [form.setCookie], formsLeaveSite: onward?.authorizationRequest != nil)
    }

    /// What was typed, and in which browser.
    func key(_ form: Form, _ request: Request) -> VerificationKey {
        .code(form["code"] ?? "", of: Verification.ID(form["verification"] ?? ""), in: pages.forms.browser(request))
    }

    /// The answer to a code that did not do.
    func refusal(
        _ refusal: Verification.Refusal, _ form: Form, _ request: Request, _ visit: Visit, _ context: SpindleContext
    ) -> Response {
        context.logger.info("refused", metadata: ["reason": "\(refusal.reason)"])
        guard case .wrongCode(let triesLeft) = refusal, triesLeft > 0 else { return pages.spentLink(refusal, visit) }
        return page(
            request, visit, verification: Verification.ID(form["verification"] ?? ""), email: form["email"] ?? "",
            onward: OnwardPath(form["continue"]), refusal: .wrongCode(triesLeft: triesLeft))
    }
}

extension PageRenderer {
    /// The answer to a link or a code that is good for nothing.
    func spentLink(_ refusal: Verification.Refusal, _ visit: Visit) -> Response {
        switch refusal {
        case .unknown: message(.linkUnknown, visit, status: .notFound)
        case .gone, .wrongCode: message(.linkGone, visit, status: .gone)
        }
    }
}

extension Verification.Refusal {
    /// One word for the log.
    var reason: String {
        switch self {
        case .unknown: "verification_unknown"
        case .gone(let reason): reason
        case .wrongCode: "wrong_code"
        }
    }
}
