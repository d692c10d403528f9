public import Directory
import Values

/// A client and its registered redirect URI, both validated: the only place an answer may be redirected to.
///
/// RFC 6749 §4.1.2.1: a request whose client or redirect URI is bad is never redirected, not even with an error.
public struct ReturnAddress: Sendable {
    public let client: Client
    public let redirectURI: RedirectURI
    /// Whether the request named it: then the token request must too (RFC 6749 §4.1.3).
    public let wasSent: Bool
    public let state: String?
    public let mode: ResponseMode
    /// Where a person goes who cancels, if the request says so: registered, like the other.
    public let cancelURI: RedirectURI?

    /// Why an authorization request has nowhere to return to; shown on a page, in words a developer can act on.
    public enum Refusal: Error, Sendable {
        case noClient
        case unknownClient(String)
        case noRedirectURI(Client)
        case unregisteredRedirectURI(Client, String)
        case unregisteredCancelURI(Client, String)
    }

    public init(_ parameters: Parameters, clients: Clients) async throws {
        guard let id = parameters[.clientID] else { throw Refusal.noClient }
        guard let client = try await clients.findLive(Client.ID(id)) else { throw Refusal.unknownClient(id) }
        guard let redirectURI = try Self.redirectURI(parameters, of: client) else {
            throw Refusal.noRedirectURI(client)
        }
        cancelURI = try parameters[.cancelRedirectURI].map { text in
            guard let registered = client.returnURI(text) else { throw Refusal.unregisteredCancelURI(client, text) }
            return registered
        }
        self.client = client
        self.redirectURI = redirectURI
        wasSent = parameters[.redirectURI] != nil
        state = parameters[.state]
        mode = .followed(parameters, to: redirectURI, of: client)
    }

    /// Whether any app on the person's device could have asked, and could receive the answer (RFC 8252 §8.6): the client
    /// proves nothing, and a scheme or a port of the device is nobody's in particular. An `https` address is.
    public var isOpenToAnyApp: Bool { client.isPublic && redirectURI.secureHost == nil }

    private static func redirectURI(_ parameters: Parameters, of client: Client) throws -> RedirectURI? {
        guard let text = parameters[.redirectURI] else {
            // RFC 6749 §3.1.2.3: it may be left out when exactly one is registered.
            return client.redirectURIs.count == 1 ? client.redirectURIs.first : nil
        }
        guard let registered = client.returnURI(text) else { throw Refusal.unregisteredRedirectURI(client, text) }
        return registered
    }
}
