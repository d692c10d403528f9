import Dispatch
import Storage
import Synchronization
import Threads

/// Collects the writers that wait during a commit, runs them in one transaction, and answers all of them after it.
///
/// A disk takes as long to make one write durable as a hundred. A member that throws undoes only itself; a failed
/// COMMIT, or a rollback by SQLite, fails every member. The group has its own thread, so a cancelled request cannot
/// abort others, and only that thread uses the writing connection.
final class GroupCommit: Sendable {
    /// Work outside any group and transaction.
    typealias Errand = @Sendable (Connection) -> Void

    private struct State {
        var members: [GroupMember] = []
        var errands: [Errand] = []
        var isStopping = false
        var isOver = false
        var waitingForTheEnd: [CheckedContinuation<Void, Never>] = []

        var isIdle: Bool { members.isEmpty && errands.isEmpty }
    }

    /// A member holds the lock for microseconds; the limit keeps its caller from waiting for thousands of others.
    private static let largestGroup = 256

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let patience = LockPatience(.seconds(10))
    /// Raised by a group that was not committed.
    let doubt = WriteDoubt()

    /// Opens the file at `path` and starts the thread, which calls `atEnd` before it closes its connection.
    static func open(
        _ path: String, _ files: OpenFiles, atEnd: @escaping @Sendable () -> Void
    ) async throws -> GroupCommit {
        let writer = GroupCommit()
        try await withCheckedThrowingContinuation { (caller: CheckedContinuation<Void, any Error>) in
            do throws(SystemThread.Unavailable) {
                try SystemThread.start(named: "spindle-writer") {
                    do {
                        let connection = try Connection.forWriting(path, files, patience: writer.patience)
                        caller.resume()
                        writer.run(on: connection)
                        atEnd()
                        connection.foldLog()
                        connection.close()
                        writer.end()
                    } catch {
                        caller.resume(throwing: error)
                    }
                }
            } catch {
                caller.resume(throwing: StorageError.unavailable("\(error)"))
            }
        }
        return writer
    }

    func enqueue(_ member: GroupMember) {
        guard add({ $0.members.append(member) }) else {
            return member.refuse(StorageError.unavailable("the database is closing"))
        }
    }

    /// How many members the next group will have.
    var waiting: Int { state.withLock { $0.members.count } }

    /// Runs `errand` between two groups. False when the thread is ending.
    func enqueue(errand: @escaping Errand) -> Bool { add { $0.errands.append(errand) } }

    /// Commits what waits, then ends the thread.
    func stop() {
        state.withLock { $0.isStopping = true }
        wake.signal()
    }

    /// From now on waits for the lock of another process no longer than `time`: work that needs the lock is refused.
    func waitForLocks(atMost time: Duration) { patience.shorten(to: time) }

    /// Returns when the thread has closed its connection.
    func ended() async {
        await withCheckedContinuation { caller in
            let isOver = state.withLock { state in
                if !state.isOver { state.waitingForTheEnd.append(caller) }
                return state.isOver
            }
            if isOver { caller.resume() }
        }
    }

    private func add(_ change: (inout State) -> Void) -> Bool {
        let (wasIdle, isStopping) = state.withLock { state in
            let wasIdle = state.isIdle
            if !state.isStopping { change(&state) }
            return (wasIdle, state.isStopping)
        }
        if wasIdle, !isStopping { wake.signal() }
        return !isStopping
    }

    private func run(on connection: Connection) {
        while true {
            wake.wait()
            while case let (members, errands) = next(), !(members.isEmpty && errands.isEmpty) {
                if !members.isEmpty { commit(members, on: connection) }
                for errand in errands { errand(connection) }
            }
            if state.withLock({ $0.isStopping && $0.isIdle }) { return }
        }
    }

    private func next() -> ([GroupMember], [Errand]) {
        state.withLock { state in
            let members = Array(state.members.prefix(Self.largestGroup))
            state.members.removeFirst(members.count)
            defer { state.errands = [] }
            return (members, state.errands)
        }
    }

    private func commit(_ members: [GroupMember], on connection: Connection) {
        var outcomes: [GroupMember.Outcome] = []
        outcomes.reserveCapacity(members.count)
        var failure: StorageError?
        do {
            try connection.commit(members, &outcomes)
        } catch {
            failure = error
            doubt.raise()
        }
        for outcome in outcomes { outcome.answer(failure) }
        guard let failure else { return }
        for member in members.dropFirst(outcomes.count) { member.refuse(failure) }
    }

    private func end() {
        let callers = state.withLock { state in
            state.isOver = true
            defer { state.waitingForTheEnd = [] }
            return state.waitingForTheEnd
        }
        for caller in callers { caller.resume() }
    }
}

/// One call of `write`. It is not generic, because the runtime would look up its types for every call.
struct GroupMember: Sendable {
    /// The result of the work, which its caller learns after the commit.
    struct Outcome {
        let caller: CheckedContinuation<Void, any Error>
        /// What the work has thrown.
        let error: (any Error)?

        var hasThrown: Bool { error != nil }

        /// Answers after the commit, or with the failure of the whole group. A member's own error is more useful.
        func answer(_ failure: (any Error)?) {
            if let error = error ?? failure { caller.resume(throwing: error) } else { caller.resume() }
        }
    }

    let work: @Sendable (SQLiteTransaction) throws -> Void
    let caller: CheckedContinuation<Void, any Error>

    func run(_ transaction: SQLiteTransaction) -> Outcome {
        do {
            try work(transaction)
            return Outcome(caller: caller, error: nil)
        } catch {
            return Outcome(caller: caller, error: error)
        }
    }

    /// Answers a caller whose work did not run.
    func refuse(_ error: any Error) { caller.resume(throwing: error) }
}

/// Commands that begin, divide and end transactions.
enum Command: Int, CaseIterable {
    case begin, beginWriting, commit, rollBack
    case openMember, undoMember, closeMember

    var sql: SQL {
        switch self {
        case .begin: "BEGIN"
        case .beginWriting: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .rollBack: "ROLLBACK"
        case .openMember: "SAVEPOINT member"
        case .undoMember: "ROLLBACK TO member"
        case .closeMember: "RELEASE member"
        }
    }
}
