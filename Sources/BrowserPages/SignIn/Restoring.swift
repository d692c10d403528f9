import Authentication
import Directory
import HTTP
import HTTPSupport
import Pages
import Values

/// Asks a user who signs in while waiting to be deleted whether to keep the account.
struct Restoring: Sendable {
    let pages: PageRenderer
    let verifications: Verifications

    func offer(
        _ user: UserID, email: String, dueAt: Timestamp, by method: Session.Method,
        _ request: Request, _ visit: PageContext
    ) async throws -> Response {
        let form = pages.forms.issue(request)
        let draft = verifications.draft(
            .restore, email: email, user: user, browser: pages.forms.browser(request),
            continueTo: visit.destination?.text ?? "", method: method)
        try await verifications.offerToRestore(draft)
        let page = RestorePage(
            action: "/account/restore", formToken: form.token, verification: draft.verification.id.text,
            continueTo: visit.destination?.text ?? "", dueAt: dueAt.dayText)
        return pages.page(
            pages.templates.restore(page, in: visit.frame), visit, cookies: [form.setCookie], formsLeaveSite: true)
    }
}

extension Timestamp {
    /// The day and the minute in UTC, as every language reads it: 2031-02-03 04:05.
    var dayText: String {
        let text = iso8601
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
    }
}
