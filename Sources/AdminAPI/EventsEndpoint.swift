public import Administration
public import Audit
import HTTP
public import HTTPSupport
import JSON
import Values

/// `/admin/v1/events`, and those of one user. A merchant's administrator sees its merchant's alone.
public struct EventsEndpoint: Endpoint {
    private let gate: AdministratorGate
    private let log: AuditLog
    private let users: UserAdministration

    public init(gate: AdministratorGate, log: AuditLog, users: UserAdministration) {
        self.gate = gate
        self.log = log
        self.users = users
    }

    public func add(to router: inout Routes) {
        router.get("events", .listEvents, use: list)
        router.get("users/{id}/events", .listUserEvents, use: listOfUser)
    }

    @Sendable private func list(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        return try await page(AuditLog.Query(), of: administrator, request, context)
    }

    @Sendable private func listOfUser(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        guard let id = UserID(try context.parameters.require("id")),
            try await users.covers(id, by: administrator)
        else { throw Problem.notFound("user") }
        var query = AuditLog.Query()
        query.user = id
        return try await page(query, of: administrator, request, context)
    }

    private func page(
        _ query: AuditLog.Query, of administrator: Administrator, _ request: Request, _ context: SpindleContext
    ) async throws -> Response {
        let filters = try request.query
        var query = query
        query.merchant = administrator.actor.merchant
        query.actor = filters["actor"]
        if let subject = filters["subject"] {
            if let user = UserID(subject) { query.user = user } else { query.subject = subject }
        }
        query.kind = filters["type"]
        query.client = filters["client_id"]
        query.requestID = filters["request_id"]
        let page = try ListPage(request, context)
        guard let after = filters["after"] else {
            let items = try await log.list(query, before: page.after, count: page.count + 1)
            return page.response(items, json: \.json, cursor: \.id.text)
        }
        guard page.after.isEmpty else { throw Problem(parameter: "cursor", "cannot be given with 'after'") }
        let start = after == "0" ? nil : AuditEvent.ID(after)
        guard let items = try await log.list(query, after: start, count: page.count) else {
            throw Problem(parameter: "after", "must be the id of an event that is kept, or 0")
        }
        // There is always a next page: what has not happened yet.
        let next = items.last?.id.text ?? after
        return .json(.members(["items": .array(items.map(\.json)), "next": .string(next)]))
    }
}
