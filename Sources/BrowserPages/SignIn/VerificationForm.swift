import Authentication
import HTTP
package import HTTPSupport
import Pages
import Text
import Values

/// The form for a code that was sent by mail or by text message, and the answers to it. It has its own address, so a
/// reloaded tab shows it again.
struct VerificationForm: Sendable {
    let pages: PageRenderer
    let verifications: Verifications
    let purpose: Verification.Purpose
    /// The purpose in the words of the page.
    let wording: CodePage.Purpose
    /// Where the code is posted and, with the verification in the query, where the form is.
    let path: String
    /// Where a new code can be requested.
    let start: String
    /// The application that the user came from, which both addresses keep.
    var back: AccountReturn?

    /// Redirects to the form for the code of `verification`. Both addresses keep whether the sign-in is remembered.
    func ask(_ verification: Verification.ID, isRemembered: Bool? = nil) -> Response {
        .sendBrowser(to: address(verification, isRemembered: isRemembered), status: .seeOther)
    }

    /// `GET`: the form, in the browser that asked for the code and while it can be typed; otherwise a redirect to
    /// `start`.
    /// - Parameter user: the user that the code must belong to, if a user is signed in.
    func show(_ request: Request, of user: UserID? = nil) async throws -> Response {
        let id = Verification.ID(Form.query(of: request.target.text)["verification"] ?? "")
        guard
            let verification = try await verifications.awaiting(id, purpose, in: pages.forms.browser(request)),
            user == nil || verification.user == user
        else { return .sendBrowser(to: start + (back.map { "?\($0.query)" } ?? ""), status: .seeOther) }
        let visit = try await pages.visit(request, of: verification)
        return page(request, visit, verification: id, email: verification.recipient)
    }

    private func page(
        _ request: Request, _ visit: PageContext, verification: Verification.ID, email: String,
        refusal: PageRefusal? = nil
    ) -> Response {
        let form = pages.forms.issue(request)
        let page = CodePage(
            action: address(verification, isRemembered: request.asksToRemember), formToken: form.token,
            verification: verification.text,
            continueTo: visit.destination?.text ?? "", email: email, purpose: wording,
            startOver: startOver(visit), refusal: refusal)
        let template = wording == .verifyPhone ? pages.templates.phoneCode : pages.templates.code
        return pages.page(
            template(page, in: visit.frame), visit.framable, status: refusal == nil ? .ok : .badRequest,
            cookies: [form.setCookie], formsLeaveSite: visit.destination?.interaction != nil, refusal: refusal)
    }

    /// The page that says that the code is not accepted at all.
    private func message(_ topic: MessagePage.Topic, _ status: Status, _ visit: PageContext) -> Response {
        pages.message(topic, visit, values: ["again": startOver(visit)], status: status)
    }

    /// Where a new code can be requested, on the same way.
    private func startOver(_ visit: PageContext) -> String {
        start + (visit.destination.map { "?continue=\(PercentEncoding.encode($0.text))" } ?? "")
    }

    private func address(_ verification: Verification.ID, isRemembered: Bool?) -> String {
        "\(path)?verification=\(PercentEncoding.encode(verification.text))"
            + (isRemembered.map { $0 ? "&remember=1" : "&remember=0" } ?? "") + (back.map { "&\($0.query)" } ?? "")
    }

    /// The typed code, and the browser it was typed in.
    func key(_ form: Form, _ request: Request) -> VerificationKey {
        .code(form["code"] ?? "", of: Verification.ID(form["verification"] ?? ""), in: pages.forms.browser(request))
    }

    /// The use of that code. The form sent again is the same use.
    func attempt(_ key: VerificationKey, _ request: Request) -> VerificationAttempt {
        verifications.attempt(with: key, in: pages.forms.cookie(of: request))
    }

    /// The response to a code that was not accepted.
    func refusal(
        _ refusal: Verification.Refusal, _ form: Form, _ request: Request, _ visit: PageContext
    ) -> Response {
        let shown: PageRefusal
        switch refusal {
        case .wrongCode(let triesLeft) where triesLeft > 0: shown = .wrongCode(triesLeft: triesLeft)
        case .tooMany(let wait): shown = .tooManyAttempts(seconds: wait.wholeSeconds)
        case .unknown: return message(.codeUnknown, .notFound, visit).because(of: refusal)
        case .gone, .wrongCode: return message(.codeGone, .gone, visit).because(of: refusal)
        }
        var response = page(
            request, visit, verification: Verification.ID(form["verification"] ?? ""), email: form["email"] ?? "",
            refusal: shown
        ).because(of: refusal)
        guard case .tooMany(let wait) = refusal else { return response }
        response.status = .tooManyRequests
        return response.asking(toWait: wait)
    }
}

extension Request {
    /// Whether the sign-in, which began with a form, is remembered; nil if the form did not ask.
    var asksToRemember: Bool? { Form.query(of: target.text)["remember"].map { $0 == "1" } }
}

extension Form {
    /// Whether the sign-in of the login page is remembered; nil when the user only confirms, where no box asks.
    var remembers: Bool? { self["confirm"] == "1" ? nil : self["remember"] == "1" }
}

extension PageRenderer {
    /// The response to a link that is not valid.
    func spentLink(_ refusal: Verification.Refusal, _ visit: PageContext) -> Response {
        switch refusal {
        case .unknown: message(.linkUnknown, visit, status: .notFound).because(of: refusal)
        case .gone, .wrongCode, .tooMany: message(.linkGone, visit, status: .gone).because(of: refusal)
        }
    }
}

extension Verification.Refusal: LoggedRefusal {
    package var refusalLine: RefusalLine {
        switch self {
        case .unknown: RefusalLine("verification_unknown")
        case .gone(let reason): RefusalLine(reason)
        case .wrongCode: RefusalLine("wrong_code")
        case .tooMany(let wait): RefusalLine("codes_throttled", ["retry_after": "\(wait.wholeSeconds)"])
        }
    }
}
