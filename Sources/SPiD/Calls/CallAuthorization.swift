package import Directory
import HTTP
package import OAuth
package import Values

/// Decides who may call SPiD's API and for which client, and counts the calls. The checks are in SPiD's order: the token
/// (`caller`), the allowance (`count`), for which client and whether this one may (`requestingClient`).
package struct CallAuthorization: Sendable {
    private let tokens: AccessTokens
    private let clients: Clients
    private let signSecrets: SignSecrets
    private let allowance: RequestAllowance
    private let clock: any WallClock

    package init(
        tokens: AccessTokens, clients: Clients, signSecrets: SignSecrets, allowance: RequestAllowance,
        clock: any WallClock
    ) {
        self.tokens = tokens
        self.clients = clients
        self.signSecrets = signSecrets
        self.allowance = allowance
        self.clock = clock
    }

    /// The client whose `token` it is. Throws when the call takes another kind of token, or the client is disabled.
    package func caller(with token: AccessToken, for access: CallAccess) async throws -> Client {
        switch access.token {
        case .user where token.user == nil: throw OAuthError.userTokenNeeded
        case .client where token.user != nil: throw OAuthError.clientTokenNeeded
        default: break
        }
        guard let client = try await clients.findLive(token.client) else {
            throw OAuthError.tokenRefused("client_disabled")
        }
        return client
    }

    /// The secret that signs the answers to `client`, if it wants them signed.
    package func signSecret(of client: Client) throws -> SignSecret? {
        client.signsResponses ? try signSecrets.open(client) : nil
    }

    /// Counts a call with `token`; what is left then of its user's share, or of its client's allowance.
    package func count(_ token: AccessToken, for access: CallAccess) -> RequestAllowance.State {
        access.isCounted
            ? allowance.take(token.client, token.user, at: clock.now)
            : allowance.left(token.client, token.user, at: clock.now)
    }

    /// `client` with its `token`, if it may make the call. `contextClientID` is the client it says it acts for, `form`
    /// the pairs of the body, which a `hash` among them covers.
    package func requestingClient(
        _ client: Client, with token: AccessToken, for access: CallAccess, contextClientID: String?,
        form: [(name: String, value: String)]
    ) async throws -> RequestingClient {
        let contextClient = try await contextClient(contextClientID, of: client)
        // A client's own token asks about any user: that is for clients set to SPiD compatibility. A third party's client
        // has what its users allowed it; SPiD's API, which knows no scopes, shows more.
        guard access.token != .client || client.spidCompatible, !client.isThirdParty || access.reach != .usual else {
            throw SPiDRefusal.notSPiDCompatible
        }
        // The API names users by their numbers, which a pairwise client must not learn (OpenID Connect Core §8).
        guard !client.openID.isPairwise || access.reach == .everyToken else { throw SPiDRefusal.notSPiDCompatible }
        try SPiDHash.check(form, of: client, with: signSecrets)
        return RequestingClient(
            token: token, client: client, contextClient: contextClient,
            confirm: { [tokens] db in _ = try tokens.again(token, in: db) })
    }

    /// The client of the same merchant that `client` acts for. Only the merchant's own clients may: what users gave a
    /// third party's client is for that one alone.
    private func contextClient(_ id: String?, of client: Client) async throws -> Client {
        guard let id, id != client.id.text else { return client }
        guard client.spidCompatible, client.firstParty, let other = try await clients.findLive(Client.ID(id)),
            Merchant.same(other.merchant, client.merchant)
        else {
            throw SPiDRefusal(
                .unauthorized, "contextClientId is not a client that this one may act for.",
                reason: "foreign_context_client")
        }
        return other
    }
}

extension OAuthError {
    static let clientTokenNeeded = OAuthError(
        .invalidToken, "client_token_needed", "This needs a client's own token, not a person's.")
}
