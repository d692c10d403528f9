public import Values

/// A client and its registered redirect URI, both validated: the only place an answer may be redirected to.
///
/// RFC 6749 §4.1.2.1: a request whose client or redirect URI is bad is never redirected, not even with an error.
public struct ReturnAddress: Sendable {
    public let client: Client
    public let redirectURI: RedirectURI
    /// Whether the request named it: then the token request must too (RFC 6749 §4.1.3).
    public let wasSent: Bool
    public let state: String?

    /// Why an authorization request has nowhere to return to; shown on a page, in words a developer can act on.
    public enum Refusal: Error, Sendable {
        case noClient
        case unknownClient(String)
        case noRedirectURI(Client)
        case unregisteredRedirectURI(Client, String)
    }

    public init(_ parameters: Parameters, clients: Clients) async throws {
        guard let id = parameters[.clientID] else { throw Refusal.noClient }
        guard let client = try await clients.findLive(Client.ID(id)) else { throw Refusal.unknownClient(id) }
        state = parameters[.state]
        self.client = client
        guard let text = parameters[.redirectURI] else {
            // RFC 6749 §3.1.2.3: it may be left out when exactly one is registered.
            guard client.redirectURIs.count == 1, let only = client.redirectURIs.first else {
                throw Refusal.noRedirectURI(client)
            }
            (redirectURI, wasSent) = (only, false)
            return
        }
        guard let registered = client.redirectURI(text) else {
            throw Refusal.unregisteredRedirectURI(client, text)
        }
        (redirectURI, wasSent) = (registered, true)
    }

    /// Where to send the browser with a code.
    public func location(code: Secret<AuthorizationCode>) -> String {
        redirectURI.adding([("code", code.value)] + stateItem)
    }

    /// Where to send the browser with a refusal.
    public func location(refusal: OAuthError) -> String {
        redirectURI.adding(
            [("error", refusal.code.rawValue), ("error_description", refusal.hint)] + stateItem)
    }

    private var stateItem: [(name: String, value: String)] { state.map { [("state", $0)] } ?? [] }
}
