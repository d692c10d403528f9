public import Hummingbird
public import Identity
import JOSE
public import OAuth
import Values

/// `GET /me`, `GET /user/{id}`: the person a token speaks for, or one that is connected to a client's merchant.
public struct UserEndpoint: Endpoint {
    private let gate: PersonGate
    private let tokens: AccessTokens
    private let accounts: Accounts
    private let permissions: Permissions
    private let apps: ConnectedApps

    public init(
        gate: PersonGate, tokens: AccessTokens, accounts: Accounts, permissions: Permissions, apps: ConnectedApps
    ) {
        self.apps = apps
        self.gate = gate
        self.tokens = tokens
        self.accounts = accounts
        self.permissions = permissions
    }

    public func add(to router: RouterGroup<SpindleContext>) {
        router.get("/me", use: me)
        router.get("/user/{id}", use: user)
    }

    @Sendable private func me(_ request: Request, context: SpindleContext) async throws -> Response {
        try await gate.answer(request, context) { caller in
            switch caller {
            case .token(let token, let account): try await answer(account, scope: token.scope.contains)
            case .person(let account): try await answer(account) { _ in true }
            }
        }
    }

    @Sendable private func user(_ request: Request, context: SpindleContext) async throws -> Response {
        let token = try await tokens.require(request)
        let wanted = AccountID(try context.parameters.require("id"))
        if let own = token.account {
            // Another person's id and one that nobody has read alike.
            guard wanted == own else { throw Self.notYours }
            return try await answer(own, scope: token.scope.contains)
        }
        // A client's own token sees the people connected to its merchant, and of others not even whether they exist.
        guard let wanted, let merchant = token.merchant,
            try await permissions.isConnected(wanted, to: merchant)
        else { throw Self.notYours }
        guard !token.isFirstParty else { return try await answer(wanted, scope: token.scope.contains) }
        // One that is not the merchant's own sees what the person allowed it, and nobody who never did.
        guard let allowed = try await apps.scope(of: token.client, for: wanted) else { throw Self.notYours }
        return try await answer(wanted, scope: token.scope.intersection(allowed).contains)
    }

    private func answer(_ id: AccountID, scope covers: (String) -> Bool) async throws -> Response {
        // Whoever wants to be forgotten is not shown any more, to a merchant's backend either.
        guard let account = try await accounts.find(id), account.deletionDueAt == nil else {
            throw OAuthError(.notFound, "unknown_user", "There is no such user.")
        }
        return .json(account.json(scope: covers))
    }

    private static let notYours = OAuthError(
        .accessDenied, "another_user", "The access token does not speak for this user.")
}
