import AsyncHTTPClient
public import Cryptography
import Deployment
import Foundation
public import JOSE
import Keys
import Logging
import NIOCore
import NIOHTTP1
import OAuth
import Outbound
import ServiceLifecycle
public import Storage
import Values

/// A whole server on a port of its own, with a clock that the test turns.
public struct TestServer: Sendable {
    public let origin: String
    public let backend: Backend
    public let clock: ManualClock
    public let database: any Database
    public let log: RecordedLog
    public let hashing: HashingPool
    public let adminID: String
    public let adminSecret: String

    private static let httpClient: HTTPClient = {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10), read: .seconds(60)))
        // Races are run with as many connections as there are runners.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// Starts a server on `backend`, runs `body` and stops it.
    public static func with<Value>(
        _ backend: Backend, settings: [String: String] = [:], hashing: HashingPool? = nil,
        _ body: (TestServer) async throws -> Value
    ) async throws -> Value {
        let loans = DatabaseLoans.of(backend)
        let database = try await loans.take()
        do {
            let value = try await with(backend, database, settings: settings, hashing: hashing, body)
            await loans.giveBack(database)
            return value
        } catch {
            await loans.giveBack(database)
            throw error
        }
    }

    private static func with<Value>(
        _ backend: Backend, _ database: any Database, settings: [String: String], hashing: HashingPool?,
        _ body: (TestServer) async throws -> Value
    ) async throws -> Value {
        let clock = ManualClock()
        let random = SystemRandom()
        let log = RecordedLog()
        let masterKey = MasterKey.random(from: random)
        var configuration = try SpindleConfiguration.read(
            commandLine: ["issuer": "http://spindle.test"].merging(settings) { $1 }, environment: [:], file: nil)
        // Any free port: no operator may ask for that.
        configuration.listen = ListenAddress(host: "127.0.0.1", port: 0)
        let hashing =
            try hashing
            ?? HashingPool(
                parameters: PasswordHashParameters(memoryKiB: 8, iterations: 1, parallelism: 1), random: random)
        let spindle = try Spindle.build(
            configuration,
            Parts(
                database: database, masterKey: masterKey, clock: clock, random: random, hashing: hashing,
                logger: log.logger))
        let stores = Stores(
            database: database, seal: Seal(masterKey: masterKey, random: random), clock: clock, random: random,
            hashing: hashing, outbound: OutboundPolicy())
        let admin = try await stores.clients.register(
            try ClientMetadata(["client_name": "Administrator", "scope": "admin", "grant_types": ["client_credentials"]]),
            merchant: nil)

        let (ports, port) = AsyncStream<Int>.makeStream()
        let server = Server(
            spindle: spindle, configuration: configuration, clock: clock, logger: log.logger,
            onListening: { port.yield($0) })
        let group = ServiceGroup(
            configuration: .init(services: try server.services().map { .init(service: $0) }, logger: log.logger))
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { port.finish() }
                try await group.run()
            }
            var iterator = ports.makeAsyncIterator()
            let bound = await iterator.next() ?? 0
            let test = TestServer(
                origin: "http://127.0.0.1:\(bound)", backend: backend, clock: clock, database: database, log: log,
                hashing: hashing, adminID: admin.client.id.text, adminSecret: admin.secret?.value ?? "")
            let result: Result<Value, any Error>
            do {
                result = .success(try await body(test))
            } catch {
                result = .failure(error)
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return try result.get()
        }
    }

    // MARK: - Requests

    public func get(
        _ path: String, bearer: String? = nil, cookies: [String: String] = [:], headers: [String: String] = [:]
    ) async throws -> Answer {
        try await send("GET", path, bearer: bearer, cookies: cookies, headers: headers)
    }

    /// Posts a form.
    public func post(
        _ path: String, _ form: KeyValuePairs<String, String>, basic: (id: String, secret: String)? = nil,
        bearer: String? = nil, cookies: [String: String] = [:], headers: [String: String] = [:]
    ) async throws -> Answer {
        try await post(
            path, form: form.map { ($0.key, $0.value) }, basic: basic, bearer: bearer, cookies: cookies,
            headers: headers)
    }

    /// Posts a form whose fields were put together before.
    public func post(
        _ path: String, form: [(String, String)], basic: (id: String, secret: String)? = nil,
        bearer: String? = nil, cookies: [String: String] = [:], headers: [String: String] = [:]
    ) async throws -> Answer {
        let body = form.map { "\(Self.encode($0.0))=\(Self.encode($0.1))" }.joined(separator: "&")
        var headers = headers
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        if let basic {
            let pair = "\(Self.encode(basic.id)):\(Self.encode(basic.secret))"
            headers["Authorization"] = "Basic \(Data(pair.utf8).base64EncodedString())"
        }
        return try await send("POST", path, body: Array(body.utf8), bearer: bearer, cookies: cookies, headers: headers)
    }

    /// Sends JSON.
    public func send(_ method: String, _ path: String, json: JSON, bearer: String? = nil) async throws -> Answer {
        try await send(
            method, path, body: Array(json.text.utf8), bearer: bearer, headers: ["Content-Type": "application/json"])
    }

    public func send(
        _ method: String, _ path: String, body: [UInt8] = [], bearer: String? = nil, cookies: [String: String] = [:],
        headers: [String: String] = [:]
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: origin + path)
        request.method = HTTPMethod(rawValue: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let bearer { request.headers.add(name: "Authorization", value: "Bearer \(bearer)") }
        if !cookies.isEmpty {
            request.headers.add(
                name: "Cookie", value: cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; "))
        }
        if !body.isEmpty { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await Self.httpClient.execute(request, timeout: .seconds(60))
        let bytes = try await response.body.collect(upTo: 1 << 20)
        return Answer(
            status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) },
            body: String(buffer: bytes))
    }

    public static func encode(_ text: String) -> String {
        text.addingPercentEncoding(
            withAllowedCharacters: CharacterSet(
                charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")) ?? ""
    }
}
