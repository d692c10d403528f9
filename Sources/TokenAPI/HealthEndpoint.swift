import HTTP
public import HTTPSupport
import JSON
public import Keys
import Logging
public import Storage
import Synchronization

/// `GET /healthz`: the process is alive. `GET /readyz`: it can serve requests; otherwise it says what is missing.
public struct HealthEndpoint: Endpoint {
    private let readiness: Readiness

    /// `steps` are the schema steps that this program knows, the newest last.
    public init(database: any Database, seal: Seal, steps: [Migration]) {
        readiness = Readiness(database: database, seal: seal, step: steps.last)
    }

    public func add(to router: inout Routes) {
        router.get("/healthz", .isAlive, isSafe: true, use: lives)
        router.get("/readyz", .isReady, isSafe: true, use: isReady)
    }

    @Sendable private func lives(_ request: Request, context: SpindleContext) -> Response {
        Self.alive
    }
    private static let alive = Response.json(.members(["status": "ok"]))

    @Sendable private func isReady(_ request: Request, context: SpindleContext) async -> Response {
        let lack = await readiness.lack()
        guard let lack else { return Self.response("ready", lack) }
        var response = Self.response("not_ready", lack)
        response.status = .serviceUnavailable
        response.headers[.retryAfter] = "1"
        return response.because(of: NotReady(lack: lack))
    }

    /// The checks are made in order, and none after one that fails.
    private static func response(_ status: String, _ lack: Lack?) -> Response {
        var checks: [JSON.Member] = []
        for check in ReadinessCheck.allCases {
            let isAfter = checks.contains { $0.value != "ok" }
            let word = check == lack?.check ? check.lack : isAfter ? "not checked" : "ok"
            checks.append(JSON.Member(check.rawValue, .string(word)))
        }
        return .json(.members(["status": .string(status), "checks": .object(checks)]))
    }
}

/// A lack, for the log.
private struct NotReady: LoggedRefusal {
    let lack: Lack

    var refusalLine: RefusalLine {
        RefusalLine(
            nil, level: .error, message: "not ready",
            ["check": "\(lack.check.rawValue)", "reason": "\(lack.reason)"])
    }
}

/// What a server needs to serve requests, in the order of the checks.
private enum ReadinessCheck: String, CaseIterable {
    case database, schema, key, disk

    /// The public reason when it is missing. The log has the details.
    var lack: String {
        switch self {
        case .database: "unavailable"
        case .schema: "lacks a step"
        case .key: "another"
        case .disk: "writes fail"
        }
    }
}

/// What a server lacks to be ready.
private struct Lack: Error {
    let check: ReadinessCheck
    let reason: String
}

/// Asks the database once for simultaneous requests: each check is a transaction, and anyone may ask.
private final class Readiness: Sendable {
    private let database: any Database
    private let seal: Seal
    private let step: Migration?
    private let running = Mutex<Task<Lack?, Never>?>(nil)

    init(database: any Database, seal: Seal, step: Migration?) {
        self.database = database
        self.seal = seal
        self.step = step
    }

    /// Nil when the server is ready.
    func lack() async -> Lack? {
        let question = running.withLock { running in
            if let running { return running }
            let task = Task {
                defer { self.running.withLock { $0 = nil } }
                return await self.look()
            }
            running = task
            return task
        }
        return await question.value
    }

    private func look() async -> Lack? {
        do {
            try await database.confirmReady { [seal, step] db in
                if let step { try Self.confirm(step, in: db) }
                try seal.confirm(in: db)
            }
        } catch let lack as Lack {
            return lack
        } catch StorageError.noTable(let reason) {
            return Lack(check: .schema, reason: reason)
        } catch StorageError.unopened(let reason) {
            return Lack(check: .key, reason: reason)
        } catch {
            return Lack(check: .database, error)
        }
        do {
            try await database.confirmRoom()
            return nil
        } catch {
            return Lack(check: .disk, error)
        }
    }

    private static func confirm(_ step: Migration, in db: any Transaction) throws {
        let row = try db.rows("SELECT checksum FROM schema_steps WHERE version = \(step.version)").first
        guard let row else {
            throw Lack(check: .schema, reason: "the database lacks step \(step.version): run `spindle migrate`")
        }
        guard try row.get("checksum") == step.checksum else {
            throw Lack(
                check: .schema,
                reason: "the database has another step \(step.version): an unreleased version of Spindle made it")
        }
    }
}

extension Lack {
    fileprivate init(check: ReadinessCheck, _ error: any Error) {
        self.check = check
        if case StorageError.unavailable(let reason) = error {
            self.reason = reason
        } else {
            reason = String(reflecting: error)
        }
    }
}
