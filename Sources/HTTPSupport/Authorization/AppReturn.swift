package import Directory
import OAuth
import Values

/// Where somebody goes on to whom an app signed up: back to the app, when it said where, or to the account.
///
/// What is kept with the mailed link is this path of ours. The address of the app in it is looked at when it is gone to:
/// it must still be registered then.
package enum AppReturn {
    /// The path that leads to `redirectURI`: one that `client` registered, or its own authorization request at `site`, as
    /// SPiD's SDKs for phones always say it. Nil for any other address.
    package static func path(to redirectURI: String?, of client: Client, at site: Site) -> String? {
        let path = "\(PagePath.appReturn)?client_id=\(Form.encode(client.id.text))"
        guard let redirectURI else { return path }
        if let registered = client.redirectURI(redirectURI) {
            return path + "&redirect_uri=\(Form.encode(registered.text))"
        }
        return Form(authorizationRequest: redirectURI, of: client, at: site)?.onward
    }

    /// The client by which somebody was signed up whose link goes on to `path`.
    package static func client(of path: String) -> Client.ID? {
        Form.query(of: path)["client_id"].map { Client.ID($0) }
    }
}

extension Form {
    /// An authorization request of `client` for a registered redirect URI, by its whole address at any of our entrances.
    fileprivate init?(authorizationRequest address: String, of client: Client, at site: Site) {
        let entrances = [AuthorizationEntrance(PagePath.authorize)] + AuthorizationEntrance.ofSPiD
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
