import Administration
public import Ditto
import HTTP
public import HTTPSupport
import JSON
import OAuth
import Values

/// `/admin/v1/webhooks`: the webhooks by which Ditto asks which users a merchant admits.
public struct WebhooksEndpoint: Endpoint {
    private let gate: AdministratorGate
    private let webhooks: DittoWebhooks
    private let site: Site

    public init(gate: AdministratorGate, webhooks: DittoWebhooks, site: Site) {
        self.gate = gate
        self.webhooks = webhooks
        self.site = site
    }

    public func add(to router: inout Routes) {
        router.post("webhooks", .createWebhook, use: gate.once(create))
        router.get("webhooks", .listWebhooks, use: list)
        router.get("webhooks/{id}", .getWebhook, use: show)
        router.patch("webhooks/{id}", .changeWebhook, use: change)
        router.delete("webhooks/{id}", .deleteWebhook, use: delete)
    }

    @Sendable private func create(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let json = try request.document(context)
        let merchant = try administrator.merchant(json, toMake: "webhooks")
        let webhook = try await gate.inTurn(of: administrator) {
            try await webhooks.register(json, merchant: merchant, by: administrator)
        }
        return .json(try shown(webhook), status: .created)
    }

    @Sendable private func list(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let page = try ListPage(request, context)
        let items = try await administrator.listing { merchant in
            try await webhooks.list(of: merchant, after: page.after, count: page.count + 1)
        }
        return try page.response(items, json: shown, cursor: \.id.text)
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        .json(try shown(try await mine(request, context).webhook))
    }

    @Sendable private func change(_ request: Request, context: SpindleContext) async throws -> Response {
        let (webhook, administrator) = try await mine(request, context)
        let json = try request.document(context)
        let changed = try await gate.inTurn(of: administrator) {
            try await webhooks.change(webhook.id, json, by: administrator)
        }
        guard let changed else { throw Problem.notFound("webhook") }
        return .json(try shown(changed))
    }

    @Sendable private func delete(_ request: Request, context: SpindleContext) async throws -> Response {
        let (webhook, administrator) = try await mine(request, context)
        let isDeleted = try await gate.inTurn(of: administrator) {
            try await webhooks.delete(webhook.id, by: administrator)
        }
        guard isDeleted else { throw Problem.notFound("webhook") }
        return Response(status: .noContent)
    }

    /// The webhook, with the URL to paste into Ditto's portal.
    private func shown(_ webhook: DittoWebhook) throws -> JSON {
        .object(
            (try webhook.json().members ?? []) + [
                .init("url", .string("\(site.origin)/webhooks/ditto/\(webhook.name)"))
            ])
    }

    private func mine(
        _ request: Request, _ context: SpindleContext
    ) async throws -> (webhook: DittoWebhook, administrator: Administrator) {
        let administrator = try await gate.administrator(request, context)
        guard let webhook = try await webhooks.find(try context.identifier()), administrator.covers(webhook.merchant)
        else {
            throw Problem.notFound("webhook")
        }
        return (webhook, administrator)
    }
}
