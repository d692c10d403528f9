public import Administration
import HTTP
public import HTTPSupport
import JSON
import OAuth

/// `/admin/v1/find`: what an id is of that a token, an answer or the log has.
public struct FindEndpoint: Endpoint {
    private let gate: AdministratorGate
    private let finding: Finding

    public init(gate: AdministratorGate, finding: Finding) {
        self.gate = gate
        self.finding = finding
    }

    public func add(to router: inout Routes) {
        router.get("find", .find, use: find)
    }

    @Sendable private func find(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        guard let text = try request.query["q"], text.utf8.count <= 300 else {
            throw Problem(parameter: "q", "must be an id of at most 300 bytes")
        }
        let found = try await finding.find(text, by: administrator)
        return .json(.members(["items": .array(found.map(\.json))]))
    }
}
