import HTTP
public import HTTPSupport
import JSON
public import Keys
public import Storage
import Synchronization

/// `GET /healthz`: the process is alive. `GET /readyz`: it can serve requests, which needs its database, sealed under
/// the master key that it has.
public struct HealthEndpoint: Endpoint {
    private let readiness: Readiness

    public init(database: any Database, seal: Seal) { readiness = Readiness(database, seal) }

    public func add(to router: inout Routes) {
        router.get("/healthz", use: lives)
        router.head("/healthz", use: lives)
        router.get("/readyz", use: isReady)
        router.head("/readyz", use: isReady)
    }

    @Sendable private func lives(_ request: Request, context: SpindleContext) -> Response {
        Self.alive
    }
    private static let alive = Response.json(.members(["status": "ok"]))

    @Sendable private func isReady(_ request: Request, context: SpindleContext) async throws -> Response {
        try await readiness.confirm()
        return .json(.members(["status": "ready"]))
    }
}

/// Asks the database once for all who ask at the same moment: each question is a transaction, and anybody may ask.
private final class Readiness: Sendable {
    private let database: any Database
    private let seal: Seal
    private let running = Mutex<Task<Void, any Error>?>(nil)

    init(_ database: any Database, _ seal: Seal) {
        self.database = database
        self.seal = seal
    }

    func confirm() async throws {
        let question = running.withLock { running in
            if let running { return running }
            let task = Task {
                defer { self.running.withLock { $0 = nil } }
                try await database.confirmReady { [seal = self.seal] db in try seal.confirm(in: db) }
            }
            running = task
            return task
        }
        try await question.value
    }
}
