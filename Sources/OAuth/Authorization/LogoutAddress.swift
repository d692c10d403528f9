public import Directory

/// Where a browser may go after a logout: an address that the requesting client has registered.
public struct LogoutAddress: Sendable {
    /// The URL, with the request's `state` if it has one.
    public let location: String

    /// Nil when the request names no address or no client, or an address that is not exactly a registered one. The
    /// browser then stays here: a logout must not become an open redirector.
    public init?(_ parameters: Parameters, client: Client?) {
        let text = parameters[.postLogoutRedirectURI] ?? parameters[.redirectURI] ?? parameters[.returnTo]
        guard let text, let client else { return nil }
        let registered = client.postLogoutRedirectURIs + client.redirectURIs
        guard let uri = registered.first(where: { $0.isExactly(text) }) else { return nil }
        location = parameters[.state].map { uri.adding([("state", $0)]) } ?? uri.text
    }

    /// Whether the request names an address at all.
    public static func isAsked(by parameters: Parameters) -> Bool {
        [.postLogoutRedirectURI, .redirectURI, .returnTo].contains { parameters[$0] != nil }
    }
}
