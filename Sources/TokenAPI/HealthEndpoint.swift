import HTTP
public import HTTPSupport
import JSON
public import Storage

/// `GET /healthz`: the process is alive. `GET /readyz`: it can serve requests, which needs its database.
public struct HealthEndpoint: Endpoint {
    private let database: any Database

    public init(database: any Database) { self.database = database }

    public func add(to router: inout Routes) {
        router.get("/healthz", use: lives)
        router.head("/healthz", use: lives)
        router.get("/readyz", use: isReady)
        router.head("/readyz", use: isReady)
    }

    @Sendable private func lives(_ request: Request, context: SpindleContext) -> Response {
        .json(.members(["status": "ok"]))
    }

    @Sendable private func isReady(_ request: Request, context: SpindleContext) async throws -> Response {
        try await database.confirmReady()
        return .json(.members(["status": "ready"]))
    }
}
