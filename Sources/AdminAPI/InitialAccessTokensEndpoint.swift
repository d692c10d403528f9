import Administration
import HTTP
public import HTTPSupport
import JSON
public import OAuth
import Values

/// `/admin/v1/initial-access-tokens`: the tokens with which a merchant's clients register themselves.
public struct InitialAccessTokensEndpoint: Endpoint {
    private let gate: AdministratorGate
    private let tokens: InitialAccessTokens

    public init(gate: AdministratorGate, tokens: InitialAccessTokens) {
        self.gate = gate
        self.tokens = tokens
    }

    public func add(to router: inout Routes) {
        router.post("initial-access-tokens", .createInitialAccessToken, use: gate.once(create))
        router.get("initial-access-tokens", .listInitialAccessTokens, use: list)
        router.get("initial-access-tokens/{id}", .getInitialAccessToken, use: show)
        router.delete("initial-access-tokens/{id}", .deleteInitialAccessToken, use: delete)
    }

    @Sendable private func create(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let json = try request.document(context)
        let merchant = try administrator.merchant(json, toMake: "initial access tokens")
        let (token, value) = try await gate.inTurn(of: administrator) {
            try await tokens.issue(json, for: merchant, by: administrator)
        }
        let shown = (token.json.members ?? []) + [.init("initial_access_token", .string(value.value))]
        return .json(.object(shown), status: .created)
    }

    @Sendable private func list(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let page = try ListPage(request, context)
        let items = try await administrator.listing { merchant in
            try await tokens.list(of: merchant, after: page.after, count: page.count + 1)
        }
        return page.response(items, json: \.json, cursor: \.id.text)
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        .json(try await mine(request, context).token.json)
    }

    @Sendable private func delete(_ request: Request, context: SpindleContext) async throws -> Response {
        let (token, administrator) = try await mine(request, context)
        try await gate.inTurn(of: administrator) { try await tokens.delete(token.id, by: administrator) }
        return Response(status: .noContent)
    }

    private func mine(
        _ request: Request, _ context: SpindleContext
    ) async throws -> (token: InitialAccessToken, administrator: Administrator) {
        let administrator = try await gate.administrator(request, context)
        guard let token = try await tokens.find(try context.identifier()), administrator.covers(token.merchant) else {
            throw Problem.notFound("initial access token")
        }
        return (token, administrator)
    }
}
