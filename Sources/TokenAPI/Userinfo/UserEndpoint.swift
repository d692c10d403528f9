public import Authentication
public import Directory
import HTTP
public import HTTPSupport
import JSON
public import OAuth
public import OpenID
import Values

/// `GET /me`, `GET /user/{id}`: the user of a token, or one who is connected to a client's merchant.
public struct UserEndpoint: Endpoint {
    private let gate: UserAuthentication
    private let tokens: AccessTokens
    private let expired: ExpiredTokens
    private let clients: Clients
    private let names: SubjectIdentifiers
    private let users: Users
    private let families: TokenFamilies
    private let apps: ConnectedApps

    public init(
        gate: UserAuthentication, tokens: AccessTokens, expired: ExpiredTokens, clients: Clients,
        names: SubjectIdentifiers, users: Users, families: TokenFamilies, apps: ConnectedApps
    ) {
        self.expired = expired
        self.apps = apps
        self.gate = gate
        self.tokens = tokens
        self.clients = clients
        self.names = names
        self.users = users
        self.families = families
    }

    public func add(to router: inout Routes) {
        router.get("/me", .getMe, use: me)
        router.get("/user/{id}", .getUserOfClient, use: user)
    }

    @Sendable private func me(_ request: Request, context: SpindleContext) async throws -> Response {
        try await gate.answer(request, context, .deletedToo) { caller in
            switch caller {
            case .token(let token, let user):
                try await answer(user, pairwise: try await pairwise(user, token), scope: token.scope.contains)
            case .user(let user): try await answer(user) { _ in true }
            }
        }
    }

    /// The pairwise identifier of `user` for the client of `token`, if it has those.
    private func pairwise(_ user: UserID, _ token: AccessToken) async throws -> String? {
        try await names.pairwise(user, for: try await client(of: token))
    }

    private func client(of token: AccessToken) async throws -> Client {
        guard let client = try await clients.findLive(token.client) else {
            throw OAuthError.tokenRefused("client_disabled")
        }
        return client
    }

    @Sendable private func user(_ request: Request, context: SpindleContext) async throws -> Response {
        let wanted = try context.parameters.require("id")
        return try await expired.answer(request, context, .deletedToo) {
            try await user(named: wanted, for: try await tokens.require(request))
        }
    }

    private func user(named wanted: String, for token: AccessToken) async throws -> Response {
        if let own = token.user {
            let pairwise = try await pairwise(own, token)
            // Another user's id and an unknown id get the same answer.
            guard wanted == pairwise ?? own.description else { throw Self.notYours }
            return try await answer(own, pairwise: pairwise, scope: token.scope.contains)
        }
        // A client with pairwise identifiers must not learn users' numbers, and an app's own token can be got by anyone
        // who has the app.
        guard let wanted = UserID(wanted), let merchant = token.merchant else { throw Self.notYours }
        let client = try await client(of: token)
        guard !client.openID.isPairwise, client.may(.reachUsers) else { throw Self.notYours }
        // A first-party client sees the users connected to its merchant; it does not even learn whether others exist.
        if token.may(.shareWithMerchant) {
            guard try await families.isConnected(wanted, to: merchant) else { throw Self.notYours }
            return try await answer(wanted, scope: token.scope.contains)
        }
        // Other clients see only what the user consented to.
        guard let allowed = try await apps.scope(of: client, for: wanted) else { throw Self.notYours }
        return try await answer(wanted, scope: token.scope.intersection(allowed).contains)
    }

    private func answer(
        _ id: UserID, pairwise: String? = nil, scope covers: (String) -> Bool
    ) async throws -> Response {
        // A user who asked for deletion is no longer shown, not even to a merchant's backend.
        guard let user = try await users.find(id), user.deletionDueAt == nil else {
            throw OAuthError(.notFound, "unknown_user", "There is no such user.")
        }
        return .json(user.json(pairwise: pairwise, scope: covers))
    }

    private static let notYours = OAuthError(
        .accessDenied, "another_user", "The access token does not speak for this user.")
}
