import Authentication
import Directory
import HTTP
import HTTPSupport
import OAuth
import Pages

extension PageRenderer {
    /// Shows the user of `session` which app `request` is from, before they continue.
    /// - Parameter isFirst: whether the merchant is new to the user; otherwise any app on the device could be asking.
    func introduce(
        _ request: AuthorizationRequest, _ waiting: WaitingRequest, of session: Session, isFirst: Bool, _ http: Request
    ) async throws -> Response {
        let client = request.returnAddress.client
        let visit = try await visit(http, client: client, uiLocales: waiting.interaction.form[.uiLocales])
        let page = IntroductionPage(
            clientName: client.name, merchantName: visit.frame.brand?.name, isFirst: isFirst,
            action: ConsentEndpoint.path, formToken: waiting.form.named(session.user).token, request: waiting.id,
            account: session.displayName, switchTo: waiting.switchTo)
        return self.page(
            templates.introduction(page, in: visit.frame), visit, cookies: [waiting.form.setCookie],
            formsLeaveSite: true)
    }
}
