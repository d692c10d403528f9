public import Directory

/// Where a browser may go after a logout: an address of the requesting client.
public struct LogoutAddress: Sendable {
    /// The URL, with the request's `state` if it has one.
    public let location: String
    /// Whether the client registered exactly this address. Otherwise it is a page of a SPiD-compatible client.
    public let isRegistered: Bool

    /// Nil when the request names no client, or an address that is not the client's. The browser then stays here: a
    /// logout must not become an open redirector.
    /// - Parameter isUsual: whether a SPiD-compatible client with a single address may leave it out.
    public init?(_ parameters: Parameters, client: Client?, isUsual: Bool = false) {
        guard let client else { return nil }
        let uri: RedirectURI?
        if let text = Self.text(parameters) {
            let registered = client.postLogoutRedirectURIs + client.redirectURIs
            let exact = registered.first { $0.isExactly(text) }
            isRegistered = exact != nil
            uri = exact ?? client.page(text)
        } else {
            isRegistered = true
            uri = isUsual && client.may(.varyAddresses) ? client.usualLogoutURI : nil
        }
        guard let uri else { return nil }
        location = parameters[.state].map { uri.adding([("state", $0)]) } ?? uri.text
    }

    /// The address that the request names, and how it calls it.
    package static func asked(by parameters: Parameters) -> (parameter: Parameter, text: String)? {
        for name in [Parameter.postLogoutRedirectURI, .redirectURI, .returnTo] {
            if let text = parameters[name] { return (name, text) }
        }
        return nil
    }

    private static func text(_ parameters: Parameters) -> String? { asked(by: parameters)?.text }

    /// Whether the request names an address at all.
    public static func isAsked(by parameters: Parameters) -> Bool { text(parameters) != nil }
}

extension Client {
    fileprivate var usualLogoutURI: RedirectURI? {
        let registered = postLogoutRedirectURIs.isEmpty ? redirectURIs : postLogoutRedirectURIs
        return registered.count == 1 ? registered.first : nil
    }
}
