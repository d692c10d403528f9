public import Authentication
public import Directory
import HTTP
public import HTTPSupport
import JSON
import OAuth
import Values

/// `/user-context`, `/login_status`: who uses a browser, for a client's page that greets users or redirects them.
public struct UserContextEndpoint: Endpoint {
    private let knownUsers: KnownUsers
    private let clients: Clients
    private let users: Users

    public init(clients: Clients, users: Users, knownUsers: KnownUsers) {
        self.knownUsers = knownUsers
        self.clients = clients
        self.users = users
    }

    public func add(to router: inout Routes) {
        router.get("/user-context", .getUserContext) { request, context in
            try await PageFetch.answer(request, context, clients: clients) { client in
                try await prompt(try await knownUsers.user(request, of: client), client)
            }
        }
        router.get("/login_status", .getLoginStatus, use: status)
    }

    /// What a "continue as" prompt shows. Nothing, unless the client knows the user and may see the name.
    private func prompt(_ user: KnownUser, _ client: Client) async throws -> JSON {
        guard case .connected(let session, let scope) = user, !client.openID.isPairwise,
            client.may(.seeUsersUnasked) || scope.contains("profile"), let user = try await users.find(session.user)
        else { return .object([]) }
        let profile = user.profile
        let name = ["nickname", "name", "given_name"].compactMap { profile[$0]?.string }.first
        return .members([
            "identifier": .string(user.uuid), "display_text": .string(name ?? ""),
            "client_name": .string(client.name),
        ])
    }

    /// Redirects the browser to one of three addresses, each of them the client's own.
    @Sendable private func status(_ request: Request, context: SpindleContext) async throws -> Response {
        func refused(_ reason: String, _ text: String) -> Response {
            .plain(text, status: .badRequest).because(reason)
        }
        // With an image at one of the addresses, any site would learn who its visitor is.
        guard request.isNavigation else {
            return refused("login_status_embedded", "login_status must be opened as a page, not embedded in another.")
        }
        guard let query = try? request.query, let id = query["client_id"],
            let client = try await clients.findLive(ofScripts: Client.ID(id))
        else { return refused("unknown_client", "client_id names no SPiD-compatible client.") }
        // All are checked, so that a wrong one is found before a user needs it.
        var addresses: [String: String] = [:]
        for name in ["ok_session", "no_session", "no_user"] {
            guard let text = query[name], let address = client.page(text) ?? client.redirectURI(text) else {
                return refused(
                    "unregistered_redirect_uri",
                    "\(name) must be a page of the client's web_origins, or one of its redirect_uris.")
            }
            addresses[name] = address.text
        }
        let name =
            switch try await knownUsers.user(request, of: client) {
            case .signedOut: "no_user"
            case .notConnected: "no_session"
            case .connected: "ok_session"
            }
        return .sendBrowser(to: addresses[name] ?? "")
    }
}
