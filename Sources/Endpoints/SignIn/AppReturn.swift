import HTTPTypes
import Hummingbird
import OAuth
import Pages
import Values

/// Where somebody goes on to whom an app signed up: back to the app, when it said where, or to the account.
///
/// What is kept with the mailed link is this path of ours. The address of the app in it is looked at when it is gone to:
/// it must still be registered then.
struct AppReturn: Sendable {
    static let path = "/signup/return"
    let pages: PageRenderer

    /// The path that leads to `redirectURI`, which must be registered by `client`.
    static func path(to redirectURI: String?, of client: Client) throws(SPiDRefusal) -> String {
        let path = "\(path)?client_id=\(Form.encode(client.id.text))"
        guard let redirectURI else { return path }
        guard let registered = client.redirectURI(redirectURI) else {
            throw SPiDRefusal(
                .badRequest, "redirectUri must be a registered redirect URI of the client",
                reason: "unregistered_redirect_uri")
        }
        return path + "&redirect_uri=\(Form.encode(registered.text))"
    }

    @Sendable func go(_ request: Request, context: SpindleContext) async throws -> Response {
        let query = try request.query
        guard let text = query["redirect_uri"] else { return .sendBrowser(to: "/account", status: .seeOther) }
        let client = try await pages.clients.findLive(Client.ID(query["client_id"] ?? ""))
        guard let client, let registered = client.redirectURI(text) else {
            let visit = try await pages.visit(request, client: client)
            return pages.message(client == nil ? .unknownClient : .unregisteredRedirectURI, visit)
        }
        return .sendBrowser(to: registered.text)
    }
}
