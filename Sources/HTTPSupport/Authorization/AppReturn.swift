package import Directory
package import OAuth
package import Storage
import Values

/// Where a user whom an app signed up goes next: back to the app if it gave an address, otherwise to the account page.
///
/// A path of ours is stored with the mailed link. The app's URL in it is checked when it is used: it must still be
/// registered then.
package enum AppReturn {
    /// The address at which an app expects its user back.
    package struct Address: Sendable {
        package let client: Client.ID
        package var redirectURI: String?
        /// The app's authorization request, which continues.
        package var interaction: Interaction.ID?

        /// The path that leads there.
        package var path: String {
            let pairs = [
                ("client_id", client.text), redirectURI.map { ("redirect_uri", $0) },
                interaction.map { ("continue", $0.value) },
            ]
            return "\(PagePath.appReturn)?\(pairs.compactMap(\.self).encoded)"
        }
    }

    /// An address, and the request that continues there. It is stored only with the mail that leads there, so that a
    /// refused sign-up leaves nothing behind.
    package struct Way: Sendable {
        package let address: Address
        /// Stores the request, in the transaction that queues the mail.
        package var store: @Sendable (any Transaction) throws -> Void = { _ in }
    }

    /// The way to `redirectURI`: an address that `client` registered, a place in its app, or its own authorization
    /// request at this server, which SPiD's SDKs for phones send. That request waits for the lifetime of the link. Nil
    /// for any other.
    package static func way(
        to redirectURI: String?, of client: Client, _ pages: PageRenderer, lasting lifetime: Duration
    ) -> Way? {
        guard let redirectURI else { return Way(address: Address(client: client.id)) }
        if let uri = client.redirectURI(redirectURI) ?? client.appPage(redirectURI) {
            return Way(address: Address(client: client.id, redirectURI: uri.text))
        }
        guard let form = Form(authorizationRequest: redirectURI, of: client, at: pages.site) else { return nil }
        let interactions = pages.interactions
        let request = interactions.draft(form.pairs.encoded, of: client.id, in: nil, lifetime: lifetime)
        return Way(address: Address(client: client.id, interaction: request.id)) { db in
            try interactions.store(request, in: db)
        }
    }
}

extension AppReturn.Address {
    /// Reads the address from a path of ours.
    package init?(_ path: String) {
        guard path.hasPrefix(PagePath.appReturn + "?") else { return nil }
        let query = Form.query(of: path)
        guard let client = query["client_id"] else { return nil }
        self.init(
            client: Client.ID(client), redirectURI: query["redirect_uri"],
            interaction: Interaction.ID(carried: query["continue"]))
    }
}

extension Form {
    /// An authorization request of `client` for a registered redirect URI, from its full URL at any of our entrances.
    fileprivate init?(authorizationRequest address: String, of client: Client, at site: Site) {
        let entrances = [AuthorizationEntrance(PagePath.authorize)] + AuthorizationEntrance.ofSPiD
        guard let entrance = entrances.first(where: { address.hasPrefix("\(site.origin)\($0.path)?") }),
            let query = try? Form.parse(String(address.dropFirst(site.origin.count + entrance.path.count + 1))),
            // If a parameter is repeated, one of the values could be an attacker's.
            let parameters = try? query.parameters, parameters[.clientID] == client.id.text,
            let redirectURI = parameters[.redirectURI], client.redirectURI(redirectURI) != nil
        else { return nil }
        self = entrance.form(query)
        guard isShortEnoughToStore else { return nil }
    }
}
