import Directory
import HTTPSupport
import OAuth
import OpenID
import Values

/// Which client asks for the logout.
extension LogoutEndpoint {
    /// The SPiD-compatible client whose id is sent in place of a token: SPiD's SDK for PHP does so when it has none.
    func clientInPlaceOfToken(_ parameters: OAuth.Parameters) async throws -> Client? {
        guard let text = parameters[.oauthToken] else { return nil }
        return try await pages.clients.findLive(ofScripts: Client.ID(text))
    }

    /// The client is the one that the request names, or the one whose token came with it. The token may be dead: a link
    /// on a web page is often old by the time it is followed.
    func logout(
        _ parameters: OAuth.Parameters, _ named: Client?, _ token: AccessToken?, _ presented: PresentedToken?
    ) async throws -> LogoutRequest {
        if let text = parameters[.idTokenHint] {
            return LogoutRequest(parameters, hinted: try await hints.read(text))
        }
        if let text = parameters[.clientID] {
            return try await logout(parameters, of: Client.ID(text), isNamed: presented == nil)
        }
        if let client = try await clientOfSDRN(parameters) ?? named {
            return LogoutRequest(parameters, client: client, isNamed: presented == nil)
        }
        var id = token?.client
        if id == nil, let presented { id = try await tokens.client(of: presented.secret) }
        guard let id else { return LogoutRequest(parameters, client: nil, isNamed: false) }
        return try await logout(parameters, of: id, isNamed: false)
    }

    private func logout(
        _ parameters: OAuth.Parameters, of id: Client.ID, isNamed: Bool
    ) async throws -> LogoutRequest {
        LogoutRequest(parameters, client: try await pages.clients.findLive(id), isNamed: isNamed)
    }

    private func clientOfSDRN(_ parameters: OAuth.Parameters) async throws -> Client? {
        guard let id = parameters[.clientSDRN].flatMap({ Client.ID(sdrn: $0) }) else { return nil }
        return try await pages.clients.findLive(ofScripts: id)
    }
}
