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
        guard client.may(.introspect) else { throw OAuthError.clientRefused("public_client_introspects", client.id) }
        return try await token(value, for: client)
    }

    /// The same for a SPiD-compatible client that presents a token of its own instead of its secret (RFC 7662 §2.1), as
    /// SPiD's SDKs do. A user's token introspects nothing.
    public func token(_ parameters: Parameters, by own: AccessToken) async throws -> AccessToken? {
        let value = Secret<AccessToken>(try parameters.require(.token))
        guard parameters[.clientID] ?? own.client.text == own.client.text else { throw OAuthError.twoCredentials }
        guard own.user == nil, own.may(.introspectByToken), let client = try await clients.named(own.client)
        else { throw OAuthError.noClient }
        return try await token(value, for: client)
    }

    private func token(_ value: Secret<AccessToken>, for client: Client) async throws -> AccessToken? {
        do {
            return try await tokens.present(value, to: client)
        } catch let refusal as OAuthError where refusal.code == .invalidToken {
            return nil
        }
    }
}
