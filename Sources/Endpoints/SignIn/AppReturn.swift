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

    /// Where an app wants its person back.
    struct Address: Sendable {
        let client: Client.ID
        var redirectURI: String?
        /// The app's own authorization request, which goes on.
        var interaction: Interaction.ID?

        /// The path that leads there.
        var path: String {
            let pairs = [
                ("client_id", client.text), redirectURI.map { ("redirect_uri", $0) },
                interaction.map { ("continue", $0.value) },
            ]
            return "\(AppReturn.path)?\(pairs.compactMap(\.self).encoded)"
        }
    }

    /// The address of `redirectURI`: one that `client` registered, or its own authorization request at this server, as
    /// SPiD's SDKs for phones always say it. That is kept for as long as the link is good.
    static func address(
        of redirectURI: String?, for client: Client, _ pages: PageRenderer, for lifetime: Duration
    ) async throws -> Address {
        guard let redirectURI else { return Address(client: client.id) }
        if let registered = client.redirectURI(redirectURI) {
            return Address(client: client.id, redirectURI: registered.text)
        }
        guard let request = Form(authorizationRequest: redirectURI, of: client, at: pages.site) else {
            throw SPiDRefusal(
                .badRequest,
                "redirectUri must be a registered redirect URI of the client, or its own authorization URL with one",
                reason: "unregistered_redirect_uri")
        }
        let begun = try await pages.interactions.begin(
            request.pairs.encoded, of: client.id, in: nil, lifetime: lifetime)
        guard case .begun(let interaction) = begun else { return Address(client: client.id) }
        return Address(client: client.id, interaction: interaction.id)
    }

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

extension AppReturn.Address {
    /// The address that a path of `path`'s kind leads to.
    init?(_ path: String) {
        guard path.hasPrefix(AppReturn.path + "?") else { return nil }
        let query = Form.query(of: path)
        guard let client = query["client_id"] else { return nil }
        self.init(
            client: Client.ID(client), redirectURI: query["redirect_uri"],
            interaction: Interaction.ID(carried: query["continue"]))
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
        self = entrance.form(query)
    }
}
