public import Administration
public import Audit
import HTTP
import HTTPSupport
public import OAuth
public import Storage

/// Decides who is an administrator. `Administrator` says which scopes make one, and what each allows.
public struct AdministratorGate: Sendable {
    private let tokens: AccessTokens
    private let addresses: AddressRules
    private let database: any Database
    private let audit: AuditLog
    private let answers: IdempotentAnswers

    public init(
        tokens: AccessTokens, addresses: AddressRules, database: any Database, audit: AuditLog,
        answers: IdempotentAnswers
    ) {
        self.audit = audit
        self.answers = answers
        self.tokens = tokens
        self.addresses = addresses
        self.database = database
    }

    /// Checks who asks, and that the route is for their role; then that it declares what the query has: a filter that
    /// is passed over would turn one item into a whole list. Without a token of administration nothing is told.
    func administrator(_ request: Request, _ context: SpindleContext) async throws -> Administrator {
        // From the header alone: what the query has is the route's to declare.
        let token = try await tokens.requireInHeader(request)
        let administrator = try Administrator(token, of: tokens, addresses: addresses)
        let operation = context.route.operation
        // A route of administration that does not say who may call it answers none.
        guard case .administrator(let roles) = operation.caller else { throw HTTPRefusal(.notFound) }
        try noting(administrator, operation.id) { try administrator.require(roles, to: operation.summary) }
        try request.query.refuseUndeclared(operation.query)
        return RepeatedCalls.current.map { administrator.on(answers.isFirst($0)) } ?? administrator
    }

    /// The same handler, for calls that may be sent again (`Idempotency-Key`).
    func once(_ handler: @escaping Route.Answer) -> Route.Answer {
        { request, context in
            guard request.text(of: "Idempotency-Key") != nil else { return try await handler(request, context) }
            let administrator = try await administrator(request, context)
            return try await RepeatedCalls(answers: answers).answer(request, by: administrator) {
                try await handler(request, context)
            }
        }
    }

    /// Makes a change when `administrator` has its turn: the administrators of a merchant, and those of the platform,
    /// share turns.
    func inTurn<Value: Sendable>(
        of administrator: Administrator, _ change: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await database.inTurn(of: administrator.requester, change)
        } catch let refusal as AdministrationRefusal where !refusal.isConflict {
            note(administrator, "not_permitted", refusal.member)
            throw refusal
        }
    }

    private func noting(_ administrator: Administrator, _ operation: String, _ check: () throws -> Void) throws {
        do {
            try check()
        } catch {
            note(administrator, "role_missing", operation)
            throw error
        }
    }

    /// A refusal of an administrator is an event: someone tries what their role does not allow.
    private func note(_ administrator: Administrator, _ reason: String, _ detail: String?) {
        let actor = administrator.actor
        audit.note(
            .init(
                "administration.refused", by: actor.party, merchant: actor.merchant, reason: reason, detail: detail,
                address: CurrentRequest.origin?.address))
    }
}
