import Audit
public import Cryptography
import Directory
import JSON
public import Keys
import OAuth
import Pages
import Server
public import Storage
import Values

/// A whole server on its own port, with a clock that the test controls.
public struct TestServer: Sendable {
    /// What all nodes over one database share.
    struct Fixture {
        let backend: Backend
        let database: InterruptedDatabase
        let configuration: SpindleConfiguration
        let masterKey: MasterKey
        let clock = ManualClock()
        let log = RecordedLog()
        let hashing: HashingPool
        let isDevelopment: Bool
        let mail = TestMailer()
    }

    public let origin: String
    public let adminID: String
    public let adminSecret: String
    let fixture: Fixture
    let audit: AuditLog

    public var backend: Backend { fixture.backend }
    public var clock: ManualClock { fixture.clock }
    public var database: any Database { fixture.database }
    /// The same database, to change stored data between a check and its write.
    public var interruptions: InterruptedDatabase { fixture.database }
    public var log: RecordedLog { fixture.log }
    public var hashing: HashingPool { fixture.hashing }
    /// The mailer that gets every mail.
    public var mail: TestMailer { fixture.mail }

    /// Starts a server on `backend`, runs `body` and stops it.
    public static func with<Value>(
        _ backend: Backend, settings: [String: String] = [:], hashing: HashingPool? = nil, isDevelopment: Bool = false,
        _ body: (TestServer) async throws -> Value
    ) async throws -> Value {
        try await with(
            backend, settings: settings, hashing: hashing, isDevelopment: isDevelopment, hasWorld: false
        ) { server, _ in try await body(server) }
    }

    /// The same, and `body` gets the world in its database, if `hasWorld`; nil if it must still be made, because the
    /// test makes its hashes in its own way.
    static func with<Value>(
        _ backend: Backend, settings: [String: String], hashing: HashingPool?, isDevelopment: Bool, hasWorld: Bool,
        _ body: (TestServer, World?) async throws -> Value
    ) async throws -> Value {
        let kind = Beginning.Kind(
            backend: backend, settings: settings, isDevelopment: isDevelopment, hasWorld: hasWorld,
            held: DatabaseLoans.held)
        let beginning = hashing == nil ? try await Beginning.of(kind) : nil
        return try await DatabaseLoans.with(backend, beginning?.content ?? .nothing) { database in
            let fixture = try Fixture(
                backend, InterruptedDatabase(database),
                masterKey: beginning?.masterKey ?? .random(from: SystemRandom()), settings: settings,
                hashing: hashing, isDevelopment: isDevelopment)
            let admin = if let beginning { beginning.admin } else { try await fixture.prepare(kind.held) }
            return try await open(fixture, admin) { server in try await body(server, beginning?.world?.at(server)) }
        }
    }

    /// Every route of its public address, such as `POST /login`.
    public var routes: [String] { get throws { try fixture.spindle().routes } }

    /// Seals the stored secrets.
    public var seal: Seal { Seal(masterKey: fixture.masterKey, random: SystemRandom()) }

    public var signingKeys: StoredSigningKeys { StoredSigningKeys(database: database, seal: seal) }

    /// Makes the clients and users of development mode, as `spindle serve --dev` does.
    public func prepareDevelopment(redirectURIs: [String] = []) async throws {
        try await DevelopmentSetup(
            fixture.stores(SystemRandom()), fixture.configuration, masterKey: fixture.masterKey, clock: fixture.clock
        ).prepare(redirectURIs: redirectURIs)
    }

    /// Does what `spindle key reseal` does, with a key that this server does not get.
    public func reseal() async throws {
        let (random, check) = (SystemRandom(), MasterKeyCheck(fixture.masterKey))
        try await database.write { db in try check.store(in: db) }
        _ = try await Resealing(from: fixture.masterKey, to: .random(from: random), random: random).run(on: database)
    }

    /// Stores the events that were noted in memory.
    public func storeNotes() async throws {
        repeat {
            try await audit.flush()
            if !audit.isSettled { try await Task.sleep(for: .milliseconds(20)) }
        } while !audit.isSettled
    }

    /// Chains all events.
    public func chainEvents() async throws {
        let chain = EventChain(database: database, clock: clock)
        // The server chains too: one of both wins.
        while await (try? chain.extend()) ?? true {}
    }

    /// Does what `spindle key rotate` does.
    public func rotateKeys() async throws {
        for algorithm in try await fixture.stores(SystemRandom()).clients.algorithmsInUse() {
            _ = try await signingKeys.hasten(algorithm, signsFrom: clock.now + KeyRing.shortestLead, at: clock.now)
        }
    }

    /// Starts another node over the same database, runs `body` and stops it.
    public func beside<Value>(_ body: (TestServer) async throws -> Value) async throws -> Value {
        try await Self.open(fixture, (adminID, adminSecret), body)
    }

    static func open<Value>(
        _ fixture: Fixture, _ admin: (id: String, secret: String), _ body: (TestServer) async throws -> Value
    ) async throws -> Value {
        let (ports, port) = AsyncStream<Int>.makeStream()
        let spindle = try fixture.spindle()
        let server = RunningServer(
            spindle: spindle, configuration: fixture.configuration, clock: fixture.clock,
            logger: fixture.log.logger, onListening: { port.yield($0) })
        let stop = StopSignal()
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { port.finish() }
                try await server.run(until: stop)
            }
            var iterator = ports.makeAsyncIterator()
            let bound = await iterator.next() ?? 0
            let node = TestServer(
                origin: "http://127.0.0.1:\(bound)", adminID: admin.id, adminSecret: admin.secret, fixture: fixture,
                audit: spindle.audit)
            let result: Result<Value, any Error>
            do {
                result = .success(try await body(node))
            } catch {
                result = .failure(error)
            }
            stop.send()
            try await tasks.waitForAll()
            let value = try result.get()
            try ListedReasons.check(fixture.log)
            return value
        }
    }
}

extension TestServer.Fixture {
    init(
        _ backend: Backend, _ database: InterruptedDatabase, masterKey: MasterKey, settings: [String: String],
        hashing: HashingPool? = nil, isDevelopment: Bool
    ) throws {
        var configuration = try SpindleConfiguration.read(
            commandLine: ["issuer": "http://spindle.test"].merging(settings) { $1 }, environment: [:], file: nil)
        // Port 0 takes any free port. The configuration does not allow that.
        configuration.listen = ListenAddress(host: "127.0.0.1", port: 0)
        let quick = PasswordHashCost(memoryKiB: 8, iterations: 1, parallelism: 1)
        self.init(
            backend: backend, database: database, configuration: configuration, masterKey: masterKey,
            hashing: hashing ?? HashingPool(parameters: quick, random: SystemRandom()),
            isDevelopment: isDevelopment)
    }

    /// Parsed once: no test has its own pages.
    private static let templates = Result { try Templates(site: "spindle.test") }
    private static let developmentTemplates = Result { try Templates(site: "spindle.test", isDevelopment: true) }

    private var templates: Templates {
        get throws { try (isDevelopment ? Self.developmentTemplates : Self.templates).get() }
    }

    fileprivate func spindle() throws -> Spindle {
        try Spindle.build(
            configuration,
            Parts(
                database: database, masterKey: masterKey, clock: clock, random: SystemRandom(), hashing: hashing,
                templates: try templates, mailer: mail,
                texts: configuration.sms == nil ? nil : mail, logger: log.logger,
                // The other server may run in this process, which runs every test at once.
                longestFetch: .seconds(60)))
    }

    fileprivate func stores(_ random: any RandomSource) throws -> Stores {
        Stores(
            configuration, database: database, seal: Seal(masterKey: masterKey, random: random), clock: clock,
            random: random, hashing: hashing, templates: try templates, logger: log.logger)
    }

    /// Made once, because RSA takes a tenth of a second; several, so that each of two servers has its own.
    private static let signingKeys = (0..<3).map { _ in PrivateKey.Algorithm.allCases.map(PrivateKey.generate) }

    /// Stores a key of each algorithm, as `spindle serve` does before it listens, and the platform's first admin
    /// client, as `spindle init` does. `held` is how many servers the test already has.
    func prepare(_ held: Int) async throws -> (id: String, secret: String) {
        let stored = StoredSigningKeys(database: database, seal: Seal(masterKey: masterKey, random: SystemRandom()))
        for key in Self.signingKeys[held % Self.signingKeys.count] {
            _ = try await stored.store(key, signsFrom: clock.now, at: clock.now)
        }
        let stores = try stores(SystemRandom())
        let metadata = try ClientMetadata(
            ["client_name": "Administrator", "scope": "admin", "grant_types": ["client_credentials"]])
        let made = try await stores.clients.register(metadata, merchant: nil, by: commandLine)
        return (made.client.id.text, made.secret?.value ?? "")
    }
}
