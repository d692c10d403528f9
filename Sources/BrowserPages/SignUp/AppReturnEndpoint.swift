import Directory
import HTTP
import HTTPSupport
import OAuth
import Pages
import Values

/// `/signup/return`: continues to the app that signed a user up, at a redirect URI that it has registered now, or a
/// place in the app. No code goes with it.
struct AppReturnEndpoint: Endpoint {
    let pages: PageRenderer

    func add(to router: inout Routes) { router.get(PagePath.appReturn, .returnToApp, isSafe: true, use: go) }

    @Sendable private func go(_ request: Request, context: SpindleContext) async throws -> Response {
        let query = try request.query
        guard let text = query["redirect_uri"] else { return .sendBrowser(to: "/account", status: .seeOther) }
        let client = try await pages.clients.findLive(Client.ID(query["client_id"] ?? ""))
        guard let client, let uri = client.redirectURI(text) ?? client.appPage(text) else {
            let visit = try await pages.visit(request, client: client)
            return pages.message(client == nil ? .unknownClient : .unregisteredRedirectURI, visit)
        }
        guard client.may(.sendBrowsersOn) else {
            return pages.leaving(by: .redirect(uri.text), try await pages.visit(request, client: client))
        }
        return .sendBrowser(to: uri.text)
    }
}
