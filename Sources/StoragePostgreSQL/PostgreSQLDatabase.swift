public import Storage
import Threads

/// PostgreSQL through the system's libpq: a pool of connections, each owned by a thread.
///
/// `write` is SERIALIZABLE and returns after COMMIT was acknowledged. Its closure runs again after a serialization
/// failure, after a lost connection, and after a COMMIT of unknown outcome.
public final class PostgreSQLDatabase: Database {
    private let queue: WorkQueue
    private let lines: Lines
    /// Raised by a statement that the server refused because its disk was full.
    private let doubt: WriteDoubt
    private let answerTime: Duration
    /// As many as SQLite has threads for them.
    private let scans = RequesterTurns(most: 2, of: "lists and downloads")
    /// Fewer than connections: a locked row must not hold up everything.
    private let changes = RequesterTurns(most: 8, ofShare: 4, waiting: 128, of: "changes")

    private init(_ queue: WorkQueue, _ lines: Lines, _ doubt: WriteDoubt, _ answerTime: Duration) {
        self.queue = queue
        self.lines = lines
        self.doubt = doubt
        self.answerTime = answerTime
    }

    deinit { queue.close() }

    /// Connects to `url`, which is `postgresql://…` or libpq's `key=value` form.
    ///
    /// One connection is made at once, so that a wrong address fails here; the others are made when work needs them.
    /// Work that has waited `patience` for a connection is refused: its caller has gone by then. A server that leaves a
    /// statement or COMMIT unanswered for `answerTime` counts as gone. `lock` is a LOCK TABLE for a change that keeps
    /// losing races.
    public static func open(
        url: String, connections: Int = 16, patience: Duration = .seconds(5),
        answerTime: Duration = AnswerTime.ofRequests, lock: SQL? = nil
    ) async throws -> PostgreSQLDatabase {
        let address = try ServerAddress(url)
        let queue = WorkQueue(threads: connections, patience: patience)
        let (lines, doubt) = (Lines(), WriteDoubt())
        do throws(SystemThread.Unavailable) {
            try startThreads(connections, for: queue, address, lines, doubt, answerTime, lock)
        } catch {
            queue.close()
            throw StorageError.unavailable("\(error)")
        }
        let database = PostgreSQLDatabase(queue, lines, doubt, answerTime)
        try await database.perform(.read) { session, _ in try session.connect() }
        return database
    }

    public func read<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await perform(.read) { [answerTime] session, _ in try session.run(.read, answeredIn: answerTime, work) }
    }

    public func rows(_ sql: SQL) async throws -> [Row] {
        guard case .rows(let rows) = try await perform(.select, sql) else { return [] }
        return rows
    }

    public func change(
        _ first: SQL, decided: SQL, then next: @escaping @Sendable (_ decided: SQL?) -> [SQL]
    ) async throws -> Bool {
        guard case .changed(let isChanged) = try await perform(.change, first, next(decided)) else { return false }
        return isChanged
    }

    public func scan<Value: Sendable>(
        for requester: Requester, _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await scans.run(for: requester) {
            try await perform(.read) { session, _ in
                try session.run(.read, answeredIn: AnswerTime.ofLongWork, work)
            }
        }
    }

    public func write<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await perform(.write) { [answerTime] session, lost in
            try session.run(.write, answeredIn: answerTime, after: lost, work)
        }
    }

    public func guardedWrite<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await perform(.guardedWrite) { [answerTime] session, lost in
            try session.run(.guardedWrite, answeredIn: answerTime, after: lost, work)
        }
    }

    public func inTurn<Value: Sendable>(
        of requester: Requester, _ change: () async throws -> Value
    ) async throws -> Value {
        try await changes.run(for: requester, change)
    }

    public func migrate<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await perform(.write) { session, lost in
            try session.run(.write, answeredIn: AnswerTime.ofMigration, after: lost) { db in
                try db.execute("SET LOCAL statement_timeout = 0")
                return try work(db)
            }
        }
    }

    /// Answers soon, even if the server does not; the check itself then ends like any other work. As a read it does not
    /// queue, but it runs in a transaction that may write, which a standby refuses.
    public func confirmReady(_ check: @escaping @Sendable (any Transaction) throws -> Void) async throws {
        try await perform(.read, answeringIn: AnswerTime.ofReadiness) { [answerTime] session, _ in
            try session.run(.guardedWrite, answeredIn: answerTime) { db in
                try Self.askSchema(db)
                try check(db)
            }
        }
    }

    /// Appending to a file needs space, while changing a row may not: the trial writes a megabyte to a table that is
    /// never committed.
    private static let trial = SQL(
        script: """
            CREATE TEMPORARY TABLE room AS
            SELECT repeat('0', 1000) AS filler FROM pg_catalog.generate_series(1, 1024)
            """)
    private struct TrialSucceeded: Error {}

    public func confirmRoom() async throws {
        try await doubt.settle {
            do {
                try await perform(.read, answeringIn: AnswerTime.ofReadiness) { [answerTime] session, _ in
                    try session.run(.guardedWrite, answeredIn: answerTime) { db in
                        try db.execute(Self.trial)
                        throw TrialSucceeded()
                    }
                }
            } catch is TrialSucceeded {
            } catch StorageError.unreadable {
                // The role may be unable to create the table, which says nothing about the disk.
            }
        }
    }

    public func abandonWork(over time: Duration) {
        scans.close()
        changes.close()
        lines.wait(atMost: time)
        queue.refuse(over: time)
    }

    public func close() async {
        queue.close()
        Self.after(queue.isHurried ? AnswerTime.ofTheAbandoned : AnswerTime.ofTheLast) { [queue, lines] in
            queue.abandon()
            lines.cutAll()
        }
        await queue.ended()
    }

    private static func startThreads(
        _ connections: Int, for queue: WorkQueue, _ address: ServerAddress, _ lines: Lines, _ doubt: WriteDoubt,
        _ answerTime: Duration, _ lock: SQL?
    ) throws(SystemThread.Unavailable) {
        let gate = ConnectGate()
        for number in 0..<connections {
            try SystemThread.start(named: "postgresql-\(number)") {
                let session = Session(
                    address: address, queue: queue, gate: gate, lines: lines, doubt: doubt, lock: lock)
                session.waitWhileLost()
                while let task = queue.next(for: number) {
                    run(task, in: session, from: queue, answerTime)
                    guard session.isLost else { continue }
                    queue.finish(number)
                    session.waitWhileLost()
                }
                session.disconnect()
                queue.threadEnded()
            }
        }
        // All other threads may be waiting for a server that does not answer.
        try SystemThread.start(named: "postgresql-late") {
            while queue.refuseOverdue() {
                lines.cutOverdue()
                SystemThread.sleep(for: .milliseconds(queue.isHurried ? 50 : 250))
            }
        }
    }

    private static func run(
        _ task: WorkQueue.Task, in session: Session, from queue: WorkQueue, _ answerTime: Duration
    ) {
        switch task {
        case .work(let work):
            do { try work.run(session, work.lost) } catch { queue.putBack(work, for: error) }
        case .group(let group):
            session.run(group, answeredIn: answerTime) { request, lost in
                let work = WorkQueue.Work(isRead: request.kind == .select, for: request.caller) {
                    session, lost throws(LostRaces) in
                    try session.runAlone(request, answeredIn: answerTime, after: lost)
                }
                if let lost { return queue.putBack(work, for: lost) }
                do throws(StorageError) { try queue.add(work) } catch { work.refuse(error) }
            }
        }
    }

    private static func after(_ time: Duration, _ body: @escaping @Sendable () -> Void) {
        Task {
            try? await Task.sleep(for: time)
            body()
        }
    }

    private func perform(
        _ kind: LoneRequest.Kind, _ first: SQL, _ rest: [SQL] = []
    ) async throws -> LoneRequest.Outcome {
        try await withCheckedThrowingContinuation { continuation in
            let request = LoneRequest(kind: kind, first: first, rest: rest, caller: Caller(continuation))
            do { try queue.add(request) } catch { request.caller.answer(.failure(error)) }
        }
    }

    /// Gives `job` to the next free thread, and again when it lost its races. With `time`, its caller waits no longer
    /// than that.
    private func perform<Value: Sendable>(
        _ mode: Session.Mode, answeringIn time: Duration? = nil,
        _ job: @escaping @Sendable (Session, LostRaces?) throws -> Value
    ) async throws -> Value {
        // A continuation ignores cancellation: a transaction that has begun ends by its own rules, not the caller's.
        try await withCheckedThrowingContinuation { continuation in
            let caller = Caller(continuation)
            if let time {
                Self.after(time) {
                    caller.answer(.failure(StorageError.unavailable("PostgreSQL did not answer within \(time)")))
                }
            }
            let work = WorkQueue.Work(isRead: mode == .read, for: caller) { session, lost throws(LostRaces) in
                try caller.answer { () throws -> Value in try job(session, lost) }
            }
            do throws(StorageError) { try queue.add(work) } catch { work.refuse(error) }
        }
    }
}

/// Checks for `spindle doctor`, and before tables are made.
extension PostgreSQLDatabase {
    /// The hosts of `url` that are connected to without checking their certificate, so that an attacker on the network
    /// path can pose as the database. What `url` leaves out is in the variables that libpq reads. Sockets and this
    /// machine need no check.
    public static func unverifiedHosts(of url: String, environment: [String: String]) throws -> [String] {
        let parameters = try ServerAddress(url).given
        // A service file takes precedence over the environment, and its content is not read here.
        let named = parameters["service"] ?? environment["PGSERVICE"]
        func value(_ parameter: String, _ variable: String) -> String? {
            parameters[parameter] ?? (named == nil ? environment[variable] : nil)
        }
        // With the system's authorities, libpq also checks the name.
        let isVerified =
            value("sslmode", "PGSSLMODE") == "verify-full"
            || value("sslrootcert", "PGSSLROOTCERT") == "system"
        guard !isVerified else { return [] }
        let service = named.map { "service \($0)" }
        func list(_ parameter: String, _ variable: String) -> [String] {
            (value(parameter, variable) ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        // If both are given, libpq connects to the address and uses the host only as a name for it.
        let names = list("host", "PGHOST")
        let addresses = list("hostaddr", "PGHOSTADDR")
        var hosts = (0..<max(names.count, addresses.count)).map { index in
            let address = index < addresses.count ? addresses[index] : ""
            return address.isEmpty && index < names.count ? names[index] : address
        }.filter { !$0.isEmpty }
        if hosts.isEmpty, let service { hosts = [service] }
        return hosts.filter { host in
            let isSocket = host.hasPrefix("/") || host.hasPrefix("@")
            return !isSocket && host != "localhost" && host != "::1" && !host.hasPrefix("127.")
        }
    }

    /// The names of the tables in the schema where new ones are made, except those of extensions.
    public func tables() async throws -> Set<String> {
        try await read { db in
            let rows = try db.rows(
                """
                SELECT c.relname::text AS name FROM pg_catalog.pg_class c
                JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT EXISTS (
                    SELECT 1 FROM pg_catalog.pg_depend d
                    WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
                """)
            return Set(try rows.map { try $0.get("name", as: String.self) })
        }
    }

    /// The server's settings with which a power cut could lose acknowledged work.
    public func unsafeSettings() async throws -> [String] {
        try await read { db in
            try db.rows(
                """
                SELECT name FROM pg_catalog.pg_settings
                WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY name
                """
            ).map { try $0.get("name") }
        }
    }

    /// Those of `tables` that lack keys because a restore was interrupted. `pg_restore` makes primary keys after the
    /// data, and foreign keys after all indexes, in the order of their tables, of which webhooks is the last.
    public func tablesWithoutKeys(among tables: Set<String>) async throws -> [String] {
        try await read { db in
            try db.rows(
                """
                SELECT c.relname::text AS name FROM pg_catalog.pg_class c
                WHERE c.relkind = 'r' AND c.relnamespace = (
                        SELECT s.relnamespace FROM pg_catalog.pg_class s WHERE s.oid = 'schema_steps'::regclass)
                    AND (NOT EXISTS (
                            SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p')
                        OR c.relname = 'webhooks' AND NOT EXISTS (
                            SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f'))
                ORDER BY 1
                """
            ).map { try $0.get("name", as: String.self) }.filter(tables.contains)
        }
    }
}
