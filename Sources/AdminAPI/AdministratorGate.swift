import Administration
import Directory
import HTTP
import HTTPSupport
public import OAuth
public import Storage
import Values

/// Decides who is an administrator. `Administrator` says which scopes make one, and what each allows.
public struct AdministratorGate: Sendable {
    private let tokens: AccessTokens
    private let database: any Database

    public init(tokens: AccessTokens, database: any Database) {
        self.tokens = tokens
        self.database = database
    }

    /// Throws when the caller is no longer an administrator, or has fewer rights than before.
    typealias Confirm = @Sendable (any Transaction) throws -> Void

    func administrator(_ request: Request, _ context: SpindleContext) async throws -> Administrator {
        try await enter(request, context).administrator
    }

    /// The same, with a check to repeat in the transaction that writes: it may wait, for a turn or a password's hash.
    func entry(
        _ request: Request, _ context: SpindleContext
    ) async throws -> (administrator: Administrator, confirm: Confirm) {
        let (token, administrator) = try await enter(request, context)
        return (
            administrator,
            { [tokens] db in
                guard try Administrator(try tokens.again(token, in: db)) == administrator else {
                    throw OAuthError.scopeMissing(Scope.admin)
                }
            }
        )
    }

    /// Checks who asks, and then that the route declares what the query has: a filter that is passed over would turn
    /// one item into a whole list. Without a token of administration nothing is told.
    private func enter(
        _ request: Request, _ context: SpindleContext
    ) async throws -> (token: AccessToken, administrator: Administrator) {
        // From the header alone: what the query has is the route's to declare.
        let token = try await tokens.require(try PresentedToken.find(request.headers, form: nil, query: nil))
        let administrator = try Administrator(token)
        try request.query.refuseUndeclared(context.route.query)
        return (token, administrator)
    }

    /// Makes a change when `administrator` has its turn: the administrators of a merchant, and those of the platform,
    /// share turns.
    func inTurn<Value: Sendable>(
        of administrator: Administrator, _ change: () async throws -> Value
    ) async throws -> Value {
        let share = Requester.of(administrator.confines)
        return try await database.inTurn(of: share.asked(by: administrator.client?.text ?? ""), change)
    }
}
