import Authentication
import Directory
import HTTP
import HTTPSupport
import OAuth
import Pages

extension PageRenderer {
    /// Shows the person of `session` whom `request` is from, before they go on.
    ///
    /// - Parameter isFirst: they have never met; else anybody on the device could be asking.
    func introduce(
        _ request: AuthorizationRequest, _ asked: Form, of session: Session, isFirst: Bool, _ http: Request
    ) async throws -> Response {
        let issued = forms.issue(http)
        let client = request.returnAddress.client
        let visit = try await visit(http, client: client, uiLocales: asked["ui_locales"]).unframed
        let page = IntroductionPage(
            clientName: client.name, merchantName: visit.frame.brand?.name, isFirst: isFirst,
            action: ConsentEndpoint.path, formToken: issued.token, request: asked.marked(for: session.user),
            account: session.displayName, switchTo: asked.bySomebodyElse.onward)
        return self.page(
            templates.introduction(page, in: visit.frame), visit, cookies: [issued.setCookie], formsLeaveSite: true)
    }
}
