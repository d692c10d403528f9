public import Directory
import Storage

/// The token endpoint: authenticates the client, checks the grant, and issues the tokens.
public struct TokenIssuance: Sendable {
    private let clients: ClientAuthenticator
    private let grants: [GrantType: any Grant]
    private let mint: any TokenMint
    private let issuer: String

    public init(clients: ClientAuthenticator, grants: [any Grant], mint: any TokenMint, issuer: String) {
        self.issuer = issuer
        self.clients = clients
        self.grants = Dictionary(grants.map { (type(of: $0).type, $0) }, uniquingKeysWith: { first, _ in first })
        self.mint = mint
    }

    /// Authenticates the client, checks that it may use the grant, runs the grant, and mints.
    public func tokens(for request: TokenRequest, from credentials: ClientCredentials) async throws -> TokenResponse {
        let type = GrantType(try request.parameters.require(.grantType))
        let client = try await clients.authenticate(credentials)
        guard let grant = grants[type] else { throw OAuthError.unsupportedGrant(grants.keys) }
        guard client.may(type) else { throw OAuthError.grantNotAllowed(client.id) }
        // If a parallel request rotates the token meanwhile, the grant runs again; no honest race needs more attempts.
        for _ in 1...5 {
            let granted = try await grant.authorize(request, client: client)
            let authorization = try granted.isReplay ? granted : confirmed(granted, request, by: type)
            let minted: TokenResponse?
            do {
                minted = try await mint.tokens(for: authorization)
            } catch StorageError.constraint(let reason) {
                // A node caches a client for a second after it was deleted elsewhere: nothing can be stored for it.
                guard try await clients.isGone(client.id) else { throw StorageError.constraint(reason) }
                throw OAuthError.unknownClient(client.id)
            }
            guard var response = minted else { continue }
            if type == .tokenExchange { response.issuedTokenType = TokenResponse.accessTokenType }
            return response
        }
        throw OAuthError.stateChanged
    }

    /// The same authorization for the resource that `request` names, won only while user and client still qualify.
    private func confirmed(
        _ granted: Authorization, _ request: TokenRequest, by type: GrantType
    ) throws(OAuthError) -> Authorization {
        let aimed = try granted.aimed(as: request.parameters, by: type, issuer: issuer).confirmingUser(by: type)
        let isToConfirm = ClientRedemption.isNeeded(by: aimed.client, for: type, scope: aimed.scope)
        return isToConfirm ? aimed.confirming(type) : aimed
    }

    /// The client that a refused request named, for the dialect of the error.
    public func client(named id: Client.ID) async throws -> Client? { try await clients.named(id) }
}
