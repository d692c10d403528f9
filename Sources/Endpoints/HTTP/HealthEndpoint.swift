public import Hummingbird
import JOSE
public import Storage

/// `GET /healthz`: the process lives. `GET /readyz`: it can serve, which takes its database.
public struct HealthEndpoint: Endpoint {
    private let database: any Database

    public init(database: any Database) { self.database = database }

    public func add(to router: RouterGroup<SpindleContext>) {
        router.get("/healthz") { _, _ in Response.json(.members(["status": "ok"])) }
        router.get("/readyz") { _, _ in
            _ = try await database.read { db in try db.rows("SELECT 1 AS one") }
            return Response.json(.members(["status": "ready"]))
        }
    }
}
