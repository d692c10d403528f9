import Authentication
import Directory
import HTTP
import HTTPSupport
import Pages
import Values

/// Asks a user who signs in while waiting for deletion whether to keep the account.
struct Restoring: Sendable {
    let pages: PageRenderer
    let verifications: Verifications

    /// Nil when the user changed after the sign-in, which then no longer counts.
    func offer(
        _ user: LeavingUser, by method: SignIn.Method, of issuer: String? = nil, isRemembered: Bool? = nil,
        _ request: Request, _ visit: PageContext
    ) async throws -> Response? {
        let verification = try await verifications.offerToRestore(
            user, by: method, of: issuer, in: pages.forms.browser(request), continueTo: visit.destination?.text ?? "")
        return verification.map { page($0, to: user, isRemembered: isRemembered, request, visit) }
    }

    /// The page of an offer that was stored.
    func page(
        _ offer: Verification.ID, to user: LeavingUser, isRemembered: Bool?, _ request: Request, _ visit: PageContext
    ) -> Response {
        let form = pages.forms.issue(request)
        let page = RestorePage(
            action: RestoreEndpoint.path + (isRemembered == true ? "?remember=1" : ""), formToken: form.token,
            verification: offer.text,
            continueTo: visit.destination?.text ?? "", dueAt: user.dueAt.dayText)
        return pages.page(
            pages.templates.restore(page, in: visit.frame), visit, cookies: [form.setCookie], formsLeaveSite: true)
    }
}
