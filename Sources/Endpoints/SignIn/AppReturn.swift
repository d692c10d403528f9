import Directory
import HTTP
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

    /// The path that leads to `redirectURI`: one that `client` registered, or its own authorization request at `site`, as
    /// SPiD's SDKs for phones always say it.
    static func path(to redirectURI: String?, of client: Client, at site: Site) throws(SPiDRefusal) -> String {
        let path = "\(path)?client_id=\(Form.encode(client.id.text))"
        guard let redirectURI else { return path }
        if let registered = client.redirectURI(redirectURI) {
            return path + "&redirect_uri=\(Form.encode(registered.text))"
        }
        guard let request = Form(authorizationRequest: redirectURI, of: client, at: site) else {
            throw SPiDRefusal(
                .badRequest,
                "redirectUri must be a registered redirect URI of the client, or its own authorization URL with one",
                reason: "unregistered_redirect_uri")
        }
        return request.onward
    }

    /// The client by which somebody was signed up whose link goes on to `path`.
    static func client(of path: String) -> Client.ID? { Form.query(of: path)["client_id"].map { Client.ID($0) } }

    @Sendable func go(_ request: Request, context: SpindleContext) async throws -> Response {
        let query = try request.query
        guard let text = query["redirect_uri"] else { return .sendBrowser(to: "/account", status: .seeOther) }
        let client = try await pages.clients.findLive(Client.ID(query["client_id"] ?? ""))
        guard let client, let registered = client.redirectURI(text) else {
            let visit = try await pages.visit(request, client: client)
            return pages.message(client == nil ? .unknownClient : .unregisteredRedirectURI, visit)
        }
        guard !client.registeredItself else {
            return pages.leaving(to: registered.text, try await pages.visit(request, client: client))
        }
        return .sendBrowser(to: registered.text)
    }
}

extension Form {
    /// An authorization request of `client` for a registered redirect URI, by its whole address at any of our entrances.
    fileprivate init?(authorizationRequest address: String, of client: Client, at site: Site) {
        let entrances = [AuthorizeEndpoint.Entrance(AuthorizeEndpoint.path)] + AuthorizeEndpoint.Entrance.ofSPiD
        guard let entrance = entrances.first(where: { address.hasPrefix("\(site.origin)\($0.path)?") }),
            let query = try? Form.parse(String(address.dropFirst(site.origin.count + entrance.path.count + 1))),
            // Said twice, one of the two could be another's.
            let parameters = try? query.parameters, parameters[.clientID] == client.id.text,
            let redirectURI = parameters[.redirectURI], client.redirectURI(redirectURI) != nil
        else { return nil }
        let form = entrance.form(query)
        guard form.fitsOnward else { return nil }
        self = form
    }
}
