import Directory
import Values

/// Tells a resource server about a token that was presented to it (RFC 7662).
public struct Introspection: Sendable {
    private let clients: ClientAuthenticator
    private let tokens: AccessTokens

    public init(clients: ClientAuthenticator, tokens: AccessTokens) {
        self.clients = clients
        self.tokens = tokens
    }

    /// The live token, if it belongs to the caller's merchant or, when the caller registered itself, to the caller. Nil
    /// means inactive. A public client may not introspect (RFC 7662 §2.1).
    public func token(_ parameters: Parameters, from credentials: ClientCredentials) async throws -> AccessToken? {
        let value = Secret<AccessToken>(try parameters.require(.token))
        let client = try await clients.authenticate(credentials)
        guard !client.isPublic else { throw OAuthError.clientRefused("public_client_introspects", client.id) }
        do {
            return try await tokens.present(value, to: client)
        } catch let refusal as OAuthError where refusal.code == .invalidToken {
            return nil
        }
    }
}
