import Administration
public import Federation
import HTTP
public import HTTPSupport
import JSON
import OAuth
import Values

/// `/admin/v1/issuers`: the issuers that a merchant trusts to identify users (RFC 7523).
public struct IssuersEndpoint: Endpoint {
    private let gate: AdministratorGate
    private let issuers: TrustedIssuers

    public init(gate: AdministratorGate, issuers: TrustedIssuers) {
        self.gate = gate
        self.issuers = issuers
    }

    public func add(to router: inout Routes) {
        router.post("issuers", .createIssuer, use: gate.once(create))
        router.get("issuers", .listIssuers, use: list)
        router.get("issuers/{id}", .getIssuer, use: show)
        router.patch("issuers/{id}", .changeIssuer, use: change)
        router.delete("issuers/{id}", .deleteIssuer, use: delete)
    }

    @Sendable private func create(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let json = try request.document(context)
        let merchant = try administrator.merchant(json, toMake: "issuers")
        let issuer = try await gate.inTurn(of: administrator) {
            try await issuers.register(json, merchant: merchant, by: administrator)
        }
        return .json(issuer.json, status: .created)
    }

    @Sendable private func list(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let page = try ListPage(request, context)
        let items = try await administrator.listing { merchant in
            try await issuers.list(of: merchant, after: page.after, count: page.count + 1)
        }
        return page.response(items, json: \.json, cursor: \.id.text)
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        .tagged(try await mine(request, context).issuer.json)
    }

    @Sendable private func change(_ request: Request, context: SpindleContext) async throws -> Response {
        let (issuer, anyone) = try await mine(request, context)
        let administrator = anyone.expecting(request.ifMatch) { db in
            try TrustedIssuers.find(issuer.id, in: db)?.json
        }
        let json = try request.document(context)
        let changed = try await gate.inTurn(of: administrator) {
            try await issuers.change(issuer.id, json, by: administrator)
        }
        guard let changed else { throw Problem.notFound("issuer") }
        return .tagged(changed.json)
    }

    @Sendable private func delete(_ request: Request, context: SpindleContext) async throws -> Response {
        let (issuer, administrator) = try await mine(request, context)
        let isDeleted = try await gate.inTurn(of: administrator) {
            try await issuers.delete(issuer.id, by: administrator)
        }
        guard isDeleted else { throw Problem.notFound("issuer") }
        return Response(status: .noContent)
    }

    private func mine(
        _ request: Request, _ context: SpindleContext
    ) async throws -> (issuer: TrustedIssuer, administrator: Administrator) {
        let administrator = try await gate.administrator(request, context)
        guard let issuer = try await issuers.find(try context.identifier()), administrator.covers(issuer.merchant)
        else {
            throw Problem.notFound("issuer")
        }
        return (issuer, administrator)
    }
}
