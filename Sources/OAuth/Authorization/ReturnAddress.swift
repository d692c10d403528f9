public import Directory
import Values

/// A client and its registered redirect URI, both validated: the only place a response may be redirected to.
///
/// RFC 6749 §4.1.2.1: a request with a bad client or redirect URI is never redirected, not even with an error.
public struct ReturnAddress: Sendable {
    public let client: Client
    public let redirectURI: RedirectURI
    /// Whether the request contained the redirect URI: then the token request must too (RFC 6749 §4.1.3).
    public let wasSent: Bool
    public let state: String?
    public let mode: ResponseMode
    /// Where a user who cancels goes, if the request says so: a registered URI, or a page of a SPiD-compatible client.
    public let cancelURI: RedirectURI?
    /// Whether a SPiD-compatible client sent an unregistered address for cancelling. Its login page then shows no
    /// cancel link.
    public let hasUnusableCancelURI: Bool

    /// Why an authorization request has nowhere to return to. A page shows it, so that a developer can act on it.
    public enum Refusal: Error, Sendable {
        case noClient
        case unknownClient(String)
        case noRedirectURI(Client)
        case unregisteredRedirectURI(Client, String)
        case unregisteredCancelURI(Client, String)
    }

    /// `own`: this server's URL.
    public init(_ parameters: Parameters, clients: Clients, besides own: String) async throws {
        guard let id = parameters[.clientID] else { throw Refusal.noClient }
        guard let client = try await clients.findLive(Client.ID(id)) else { throw Refusal.unknownClient(id) }
        guard let redirectURI = try Self.redirectURI(parameters, of: client, besides: own) else {
            throw Refusal.noRedirectURI(client)
        }
        let cancel = parameters[.cancelRedirectURI]
        cancelURI = cancel.flatMap { client.cancelURI($0, besides: own) }
        hasUnusableCancelURI = cancel != nil && cancelURI == nil
        if let cancel, hasUnusableCancelURI, !client.may(.varyAddresses) {
            throw Refusal.unregisteredCancelURI(client, cancel)
        }
        self.client = client
        self.redirectURI = redirectURI
        wasSent = parameters[.redirectURI] != nil
        state = parameters[.state]
        mode = .followed(parameters, to: redirectURI, of: client)
    }

    /// Whether any app on the user's device could have made the request and use a response of `type` (RFC 8252 §8.6).
    /// Any app can claim a custom scheme and extract a secret from another app's copy. Any app can also claim a local
    /// port, which matters when the client has no secret or gets tokens without a code. An `https` URL has an owner.
    func isOpenToAnyApp(for type: ResponseType) -> Bool {
        let isAtPort = redirectURI.secureHost == nil || redirectURI.isAtDevice
        return !redirectURI.isOfWeb || isAtPort && (!client.may(.useLocalPortUnseen) || type.isDirect)
    }

    private static func redirectURI(
        _ parameters: Parameters, of client: Client, besides own: String
    ) throws -> RedirectURI? {
        guard let text = parameters[.redirectURI] else {
            // RFC 6749 §3.1.2.3: it may be omitted when exactly one is registered.
            return client.redirectURIs.count == 1 ? client.redirectURIs.first : nil
        }
        if let registered = client.returnURI(text, besides: own) { return registered }
        // Only a response without a code or token may go to another address of the client's app.
        guard parameters[.responseType].flatMap(ResponseType.init)?.isEmpty == true, let page = client.appPage(text)
        else { throw Refusal.unregisteredRedirectURI(client, text) }
        return page
    }
}

extension Client {
    /// The address in `text`, if a user who cancels may go there. It never receives a code or token.
    package func cancelURI(_ text: String, besides own: String) -> RedirectURI? {
        returnURI(text, besides: own) ?? page(text)
    }
}
