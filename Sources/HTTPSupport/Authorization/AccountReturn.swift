package import Directory
package import HTTP
import OAuth
import Values

/// The application that sent a user to their account, and the address there that they may go back to. SPiD's clients
/// send both. Neither is checked here.
package struct AccountReturn: Sendable {
    /// The page that shows the link: the account page, or that of the phone number.
    private var page: OwnPage
    package let client: Client.ID
    private let address: String

    /// Reads it from `query`. Nil when it is absent or too long.
    private init?(_ query: Form, on page: OwnPage) {
        guard let client = query[.clientID], let address = query[.redirectURI], (1...100).contains(client.utf8.count),
            (1...2000).contains(address.utf8.count)
        else { return nil }
        self.page = page
        self.client = Client.ID(client)
        self.address = address
    }

    /// The pages that may show the link.
    package static let pages: [OwnPage] = [.account, .phones]

    /// Reads it from the URL of `request`, for the account page.
    package init?(_ request: Request) { self.init(Form.query(of: request.target.text), on: .account) }

    /// Reads it from a path of ours.
    init?(path: String) {
        guard let page = Self.pages.first(where: { path.hasPrefix($0.rawValue + "?") }) else {
            return nil
        }
        self.init(Form.query(of: path), on: page)
    }

    /// The path of the page that leads back there.
    package var path: String { "\(page.rawValue)?\(query)" }

    /// The same on another page.
    package func on(_ page: OwnPage) -> Self {
        var there = self
        there.page = page
        return there
    }

    package var query: String {
        [(Parameter.clientID.rawValue, client.text), (Parameter.redirectURI.rawValue, address)].encoded
    }
}

extension PageRenderer {
    /// The name of the application and the address to go back to: a registered one, or a page of a SPiD-compatible
    /// client. Nil for a self-registered client, which our pages do not vouch for.
    package func wayBack(_ from: AccountReturn?) async throws -> (name: String, address: String)? {
        guard let from, let client = try await clients.findLive(from.client), client.may(.sendBrowsersOn),
            let uri = from.uri(of: client)
        else { return nil }
        return (client.name, uri.text)
    }
}

extension AccountReturn {
    fileprivate func uri(of client: Client) -> RedirectURI? { client.redirectURI(address) ?? client.page(address) }
}
