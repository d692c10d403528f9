import Storage
import Threads
import Values

/// One thread's connection, and when it tries again.
final class Session {
    enum Mode {
        case read, guardedWrite, write

        var opening: SQL {
            switch self {
            case .read: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            case .guardedWrite: "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE"
            case .write: "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"
            }
        }
    }

    static let commit: SQL = "COMMIT"
    static let rollback: SQL = "ROLLBACK"

    /// About a second in all. With twenty, a quarter of a second, a busy machine sometimes refused an honest request.
    private static let mostRaces = 60
    /// How often work may lose before it waits for its turn: most work that loses once wins then.
    private static let mostAtOnce = 3
    private static let mostLosses = 2
    /// After this many lost races a transaction locks others out: otherwise many short ones would keep winning over a
    /// long one.
    private static let racesBeforeLock = 6

    private let address: ServerAddress
    private let queue: WorkQueue
    private let gate: ConnectGate
    private let lines: Lines
    private let doubt: WriteDoubt
    private let lock: SQL?
    private(set) var connection: Connection?

    init(
        address: ServerAddress, queue: WorkQueue, gate: ConnectGate, lines: Lines, doubt: WriteDoubt, lock: SQL?
    ) {
        self.address = address
        self.queue = queue
        self.gate = gate
        self.lines = lines
        self.doubt = doubt
        self.lock = lock
    }

    /// Connects, unless it is connected.
    func connect() throws(StorageError) {
        do { _ = try connected() } catch { throw error.error }
    }

    func disconnect() {
        if let connection {
            gate.leave()
            if connection.fellSilent { gate.shut() }
        }
        connection = nil
    }

    /// Whether this session could only refuse work that other threads can do.
    var isLost: Bool { connection == nil && gate.isForOthers }

    /// Waits while that is so.
    func waitWhileLost() { while isLost { SystemThread.sleep(for: .milliseconds(50)) } }

    /// Runs `work` until it has an outcome that another try would not change. The server may take `time` to answer each
    /// of its statements.
    ///
    /// Throws `LostRaces` when others were faster too often. This thread then does other work, and `work` runs again in
    /// its turn, with what was thrown. It then competes only with new work, and with other nodes, to which it leaves
    /// some time.
    func run<Value>(
        _ mode: Mode, answeredIn time: Duration, after lost: LostRaces? = nil,
        _ work: (any Transaction) throws -> Value
    ) throws -> Value {
        var races = lost?.count ?? 0
        var losses = 0
        if let lost { SystemThread.sleep(for: .milliseconds(min(lost.inTurn, 20))) }
        while true {
            var lane: Lane?
            do {
                let lock = mode == .write && races >= Self.racesBeforeLock ? lock : nil
                return try attempt(mode, time, locking: lock, work, &lane)
            } catch let failure as Failure {
                switch failure.remedy {
                case .again where races < Self.mostRaces:
                    races += 1
                    guard let lane, lost != nil || races > Self.mostAtOnce || queue.isBusy(lane) else { continue }
                    throw LostRaces(lane: lane, count: races, inTurn: lost.map { $0.inTurn + 1 } ?? 0)
                // A COMMIT of unknown outcome is possible. Closures may run twice: see `Database`. After a timeout it
                // is tried only once more, because the caller has waited long enough. If the timeout was cut short, the
                // caller has gone.
                case .reconnect where losses < Self.mostLosses && !(failure.isSilence && lines.isHurried):
                    losses += failure.isSilence ? Self.mostLosses : 1
                default: throw failure.error
                }
            }
        }
    }

    /// One transaction. Throws a `Failure` for PostgreSQL's errors, and `work`'s own errors unchanged. Sets `lane`, in
    /// which the work waits if it lost a race.
    private func attempt<Value>(
        _ mode: Mode, _ time: Duration, locking lock: SQL?, _ work: (any Transaction) throws -> Value,
        _ lane: inout Lane?
    ) throws -> Value {
        let connection = try connected()
        connection.answerTime = time
        let transaction = PostgreSQLTransaction(connection, mode, locking: lock)
        let outcome = Result { try work(transaction) }
        transaction.end()
        guard transaction.failure?.remedy != .reconnect else {
            disconnect()
            throw transaction.failure ?? .lost
        }
        do {
            let value = try outcome.get()
            // An error that `work` swallowed has still undone everything, and must not count as success.
            if let failure = transaction.failure { throw failure }
            guard transaction.needsCommit else { return value }
            switch mode {
            case .read: post(Self.commit, on: connection)
            case .guardedWrite, .write: try commit(transaction, on: connection)
            }
            return value
        } catch {
            lane = mode == .read ? nil : transaction.first.map(Lane.init)
            if transaction.hasBegun { post(Self.rollback, on: connection) }
            if let failure = transaction.failure, failure.remedy == .again { throw failure }
            throw error
        }
    }

    /// Sends what is left of `transaction` with COMMIT, and returns when the server has acknowledged it.
    private func commit(_ transaction: PostgreSQLTransaction, on connection: Connection) throws(Failure) {
        do throws(Failure) {
            guard try connection.run(transaction.closing()).tag == "COMMIT" else {
                throw Failure(remedy: .none, error: .unreadable("COMMIT did not commit"))
            }
        } catch {
            if error.remedy == .reconnect { disconnect() }
            throw error
        }
    }

    /// Ends a transaction without waiting for the result, which is read before the next one's.
    func post(_ command: SQL, on connection: Connection) {
        guard self.connection === connection else { return }
        // A connection that may still be inside a transaction is never used again; the server then rolls back.
        do { try connection.post(command) } catch { disconnect() }
    }

    private func connected() throws(Failure) -> Connection {
        if let connection { return connection }
        let connection = try gate.enter { () throws(Failure) in try Connection(to: address, lines, doubt) }
        self.connection = connection
        return connection
    }
}

extension Session {
    /// Runs requests of several callers, all of one kind, in one round trip; changes in one transaction, one after the
    /// other. Requests that are not prepared go to `alone`, which runs each by itself, and so do all when the group
    /// fails, because the failure does not tell whose it is. A request that lost too many races goes there with the
    /// count.
    func run(_ group: [LoneRequest], answeredIn time: Duration, alone: (LoneRequest, LostRaces?) -> Void) {
        var (known, unknown): ([LoneRequest], [LoneRequest]) = ([], [])
        for request in group {
            if isPrepared(request) { known.append(request) } else { unknown.append(request) }
        }
        guard group.count > 1, !known.isEmpty else {
            for request in group.dropFirst() { alone(request, nil) }
            // Running it prepares it, also for the next group.
            do { try runAlone(group[0], answeredIn: time) } catch { alone(group[0], error) }
            return
        }
        for request in unknown { alone(request, nil) }
        guard let answers = answers(to: known, within: time) else {
            for request in known { alone(request, nil) }
            return
        }
        for (request, answer) in zip(known, answers) { request.answer(answer) }
    }

    func runAlone(
        _ request: LoneRequest, answeredIn time: Duration, after lost: LostRaces? = nil
    ) throws(LostRaces) {
        try request.caller.answer { () throws -> LoneRequest.Outcome in
            switch request.kind {
            case .select:
                .rows(try run(.read, answeredIn: time, after: lost) { db in try db.rows(request.first) })
            case .change:
                .changed(
                    try run(.guardedWrite, answeredIn: time, after: lost) { db in
                        let count = try db.execute(request.first)
                        for sql in request.rest { try db.enqueue(sql) }
                        return count > 0
                    })
            }
        }
    }

    /// One of their rows may be locked for longer. The others must not wait for it, nor deadlock with another node's
    /// group.
    private static let shortLocks: SQL = "SET LOCAL lock_timeout = '100ms'"

    private func isPrepared(_ request: LoneRequest) -> Bool {
        guard let connection else { return false }
        return connection.hasPrepared(request.first) && request.rest.allSatisfy(connection.hasPrepared)
    }

    /// The answers to the first statements of `group`. Nil when a statement failed, or the connection did.
    private func answers(to group: [LoneRequest], within time: Duration) -> [Answer]? {
        guard let connection else { return nil }
        connection.answerTime = time
        do throws(Failure) {
            if group[0].kind == .select { return try connection.runAll(group.map(\.first)) }
            let opening = [Mode.guardedWrite.opening, Self.shortLocks]
            let all = try connection.runAll(opening + group.flatMap(\.statements) + [Self.commit])
            guard all.last?.tag == "COMMIT" else { return nil }
            var place = opening.count
            return group.map { request in
                defer { place += 1 + request.rest.count }
                return all[place]
            }
        } catch {
            if error.remedy == .reconnect { disconnect() } else { post(Self.rollback, on: connection) }
            return nil
        }
    }
}
