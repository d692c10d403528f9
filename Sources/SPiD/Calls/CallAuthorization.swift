package import Audit
package import Directory
import HTTP
package import OAuth
package import Storage
package import Values

/// Decides who may call SPiD's API and for which client, and counts the calls. The checks are in SPiD's order: the
/// token (`caller`), the allowance (`count`), then for which client, and whether that is allowed (`requestingClient`).
package struct CallAuthorization: Sendable {
    private let tokens: AccessTokens
    private let clients: Clients
    private let authenticator: ClientAuthenticator
    private let signSecrets: SignSecrets
    private let allowance: RequestAllowance
    private let clock: any WallClock

    package init(
        tokens: AccessTokens, clients: Clients, authenticator: ClientAuthenticator, signSecrets: SignSecrets,
        allowance: RequestAllowance, clock: any WallClock
    ) {
        self.tokens = tokens
        self.authenticator = authenticator
        self.clients = clients
        self.signSecrets = signSecrets
        self.allowance = allowance
        self.clock = clock
    }

    /// The caller: a token's client, or a client that authenticated by its secret.
    package struct Caller: Authority {
        package let token: AccessToken
        package let client: Client
        /// Where the token is stored; nil for a client that sent its secret.
        fileprivate let tokens: AccessTokens?

        package var actor: Actor { Actor(.client(client.id), of: client.merchant?.text) }

        /// Throws if the token or the secret has ended, or if the client's rights have changed since the call began.
        package func confirm(in db: any Transaction) throws {
            if let tokens { _ = try tokens.again(token, in: db) }
            let live = try client.again(in: db)
            guard tokens != nil || live.secretEndedAt == client.secretEndedAt else {
                throw OAuthError.tokenRefused("secret_ended_meanwhile")
            }
        }
    }

    /// The client of `token`. Throws when the call takes another kind of token, or the client is disabled.
    package func caller(with token: AccessToken, for access: CallAccess) async throws -> Caller {
        try access.token.check(token)
        guard let client = try await clients.findLive(token.client) else {
            throw OAuthError.tokenRefused("client_disabled")
        }
        return Caller(token: token, client: client, tokens: tokens)
    }

    /// The client that authenticates by its secret, as if it had sent a token of its own: for SPiD-compatible clients
    /// that may get one. Other clients' credentials are not read, so that secrets cannot be guessed here.
    package func caller(with credentials: ClientCredentials, for access: CallAccess) async throws -> Caller {
        guard let named = try await authenticator.named(credentials.id), named.may(.callBySecret),
            named.may(.clientCredentials), access.reach != .everyToken
        else { throw OAuthError.noToken }
        let client = try await authenticator.authenticate(credentials)
        let token = AccessToken.own(of: client, at: clock.now)
        try access.token.check(token)
        return Caller(token: token, client: client, tokens: nil)
    }

    /// The secret that signs the answers to `client`, if it wants them signed.
    package func signSecret(of client: Client) throws -> SignSecret? {
        client.signsResponses ? try signSecrets.open(client) : nil
    }

    /// Counts a call of `caller` from `address`. Returns what is left of their share, or of the client's allowance.
    package func count(_ caller: Caller, from address: String, for access: CallAccess) -> RequestAllowance.State {
        let client = caller.client
        let place = RequestAllowance.Sharer.address(IPAddress.site(of: address) ?? address)
        let sharer =
            caller.token.user.map { RequestAllowance.Sharer.user($0) } ?? (client.may(.answerForItself) ? nil : place)
        return access.isCounted
            ? allowance.take(client.id, sharer, at: clock.now) : allowance.left(client.id, sharer, at: clock.now)
    }

    /// `caller`, if it may make the call. `contextClientID` names the client that it acts for. `form` is the body,
    /// including its `hash`, if any.
    package func requestingClient(
        _ caller: Caller, for access: CallAccess, contextClientID: String?, form: [(name: String, value: String)]
    ) async throws -> RequestingClient {
        let client = caller.client
        let contextClient = try await contextClient(contextClientID, of: client)
        // A client's own token may ask about any user, so that is for SPiD-compatible clients. A third-party client may
        // see only what its users allowed it; SPiD's API, which has no scopes, shows more.
        let isAboutUsers = access.reach != .everyToken && access.token != .optional
        guard caller.token.user != nil || client.may(.askAboutUsers) || !isAboutUsers,
            client.may(.useSPiDAPI) || access.reach != .usual
        else { throw SPiDRefusal.notSPiDCompatible }
        guard caller.token.user != nil || client.may(.reachUsers) || access.isForApps || !isAboutUsers else {
            throw SPiDRefusal.appsOwnToken
        }
        // The API names users by their numbers, which a pairwise client must not learn (OpenID Connect Core §8).
        guard !client.openID.isPairwise || access.reach == .everyToken else { throw SPiDRefusal.notSPiDCompatible }
        try SPiDHash.check(form, of: client, with: signSecrets)
        return RequestingClient(caller: caller, contextClient: contextClient)
    }

    /// The client of the same merchant that `client` acts for. Only first-party clients may do so, and not for a
    /// third-party client, to which users gave access for that client alone. Nor for a pairwise client: the API names
    /// users by their numbers, which it must not learn.
    private func contextClient(_ id: String?, of client: Client) async throws -> Client {
        guard let id, id != client.id.text else { return client }
        guard client.may(.actForOtherClients), let other = try await clients.findLive(Client.ID(id)),
            Merchant.same(other.merchant, client.merchant), other.may(.shareWithMerchant), !other.openID.isPairwise
        else {
            throw SPiDRefusal(
                .unauthorized, "contextClientId is not a client that this one may act for.",
                reason: "foreign_context_client")
        }
        return other
    }
}

extension Client {
    /// The client as it is now. Throws if its rights have changed since the call began, as they may while a provider
    /// answers.
    @discardableResult
    func again(in db: any Transaction) throws -> Client {
        guard let live = try Clients.findLive(id, in: db), live.kind == kind, live.grantTypes == grantTypes
        else { throw OAuthError.tokenRefused("client_changed") }
        return live
    }
}

extension CallAccess.Token {
    fileprivate func check(_ token: AccessToken) throws(OAuthError) {
        switch self {
        case .user where token.user == nil: throw .userTokenNeeded
        case .client where token.user != nil: throw .clientTokenNeeded
        default: break
        }
    }
}

extension OAuthError {
    static let clientTokenNeeded = OAuthError(
        .invalidToken, "client_token_needed", "This call needs a client's own token, not a user's.")
}
