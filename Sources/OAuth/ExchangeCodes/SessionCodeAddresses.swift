import Directory

/// The addresses of this server that an app may open for its user in a web view: the account page's, as SPiD's apps
/// know them. They need no registration.
public struct SessionCodeAddresses: Sendable {
    package static let paths = [
        "/account", "/account/summary", "/account/phones", "/profile-pages", "/profile-pages/about-you/phone",
    ]

    private let all: Set<String>

    /// - Parameter origin: that of this server.
    public init(origin: String) { all = Set(Self.paths.map { origin + $0 }) }

    /// Whether a session code for `client` may lead to `text`: exactly to one of these addresses, for a first-party app
    /// that speaks SPiD.
    func isOpen(_ text: String, to client: Client) -> Bool {
        client.may(.showAccountInWebViews) && all.contains(text)
    }
}
