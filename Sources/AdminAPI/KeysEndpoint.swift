public import Administration
import HTTP
public import HTTPSupport
import JSON
import Keys
import OAuth

/// `/admin/v1/keys`: the signing keys.
public struct KeysEndpoint: Endpoint {
    private let gate: AdministratorGate
    private let keys: KeyAdministration

    public init(gate: AdministratorGate, keys: KeyAdministration) {
        self.gate = gate
        self.keys = keys
    }

    public func add(to router: inout Routes) {
        router.get("keys", .listKeys, use: list)
        router.post("keys", .rotateKeys, use: gate.once(rotate))
        router.delete("keys/{kid}", .withdrawKey, use: withdraw)
    }

    @Sendable private func list(_ request: Request, context: SpindleContext) async throws -> Response {
        _ = try await gate.administrator(request, context)
        return .json(Self.page(try await keys.list().map { $0.key.json($0.state) }))
    }

    @Sendable private func rotate(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let made = try await gate.inTurn(of: administrator) { try await keys.rotate(by: administrator) }
        return .json(Self.page(made.map { $0.json(.next) }), status: .created)
    }

    @Sendable private func withdraw(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let id = try context.parameters.require("kid")
        let current = try await gate.inTurn(of: administrator) { try await keys.withdraw(id, by: administrator) }
        guard current != nil else { throw Problem.notFound("key") }
        return Response(status: .noContent)
    }

    private static func page(_ items: [JSON]) -> JSON { .members(["items": .array(items), "next": .null]) }
}
