public import Administration
import Audit
public import Cryptography
public import Delivery
import HTTP
public import HTTPSupport
import JSON
import OAuth
public import Values

/// `/admin/v1/deliveries` and `/admin/v1/counts`: what waits to be sent, and how much there is of everything.
public struct DeliveriesEndpoint: Endpoint {
    private let gate: AdministratorGate
    private let outbox: Outbox
    private let counts: Counts
    private let clock: any WallClock
    private let random: any RandomSource

    public init(
        gate: AdministratorGate, outbox: Outbox, counts: Counts, clock: any WallClock, random: any RandomSource
    ) {
        self.clock = clock
        self.random = random
        self.gate = gate
        self.outbox = outbox
        self.counts = counts
    }

    public func add(to router: inout Routes) {
        router.get("deliveries", .listDeliveries, use: list)
        router.post("deliveries/{id}/retry", .retryDelivery, use: gate.once(retry))
        router.delete("deliveries/{id}", .dropDelivery, use: drop)
        router.get("counts", .getCounts, use: count)
    }

    @Sendable private func list(_ request: Request, context: SpindleContext) async throws -> Response {
        _ = try await gate.administrator(request, context)
        let page = try ListPage(request, context)
        guard let state = Outbox.State(rawValue: try request.query["state"] ?? "waiting") else {
            throw Problem(parameter: "state", "must be waiting or failed")
        }
        let place = try page.place(Outbox.Place.init)
        let items = try await outbox.list(state, after: place, count: page.count + 1)
        return page.response(items, json: \.json) { "\($0.failedAt?.milliseconds ?? 0).\($0.id)" }
    }

    @Sendable private func retry(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let id: Delivery.ID = try context.identifier()
        let work = administrator.writing(
            "delivery.retried", on: Party(.delivery, id.text), at: clock.now, random)
        switch try await outbox.retry(id, doing: work) {
        case .done: return Response(status: .noContent)
        case .unknown: throw Problem.notFound("delivery")
        case .useless:
            throw Problem(status: .conflict, detail: "It is too late: what it says has expired.")
        }
    }

    @Sendable private func drop(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let id: Delivery.ID = try context.identifier()
        let isGone = try await outbox.drop(
            id,
            doing: administrator.writing(
                "delivery.dropped", on: Party(.delivery, id.text), at: clock.now, random))
        guard isGone else { throw Problem.notFound("delivery") }
        return Response(status: .noContent)
    }

    @Sendable private func count(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        return .json(try await counts.json(by: administrator))
    }
}

extension Outbox.Place {
    fileprivate init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let moment = Int64(parts[0]) else { return nil }
        self.init(failedAt: Timestamp(milliseconds: moment), id: .init(String(parts[1])))
    }
}
