import Foundation
import GRDB
import Storage
import Synchronization

/// Gathers the writers that wait while a commit is running, runs them in one transaction and answers all after it.
///
/// A disk needs the same time to make one write durable as a hundred. Each member runs in a savepoint of its own, so
/// that one that throws undoes only itself; a failed COMMIT, or a rollback by SQLite itself, fails every member. The
/// thread is its own: a cancelled request cannot abort its neighbours.
final class GroupCommit: Sendable {
    private struct State {
        var waiting: [any GroupMember] = []
        var stopping: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let pool: DatabasePool
    /// A member holds the lock for microseconds; the bound keeps one group's answers from waiting for thousands.
    private static let largestGroup = 256

    init(pool: DatabasePool) {
        self.pool = pool
        let thread = Thread { [self] in
            // Named from within: on Linux Foundation names only the running thread to the system.
            Thread.current.name = "spindle-writer"
            run()
        }
        thread.start()
    }

    func enqueue(_ member: any GroupMember) {
        let (isFirst, isStopped) = state.withLock { state in
            guard state.stopping == nil else { return (false, true) }
            state.waiting.append(member)
            return (state.waiting.count == 1, false)
        }
        if isStopped { member.finish(failure: StorageError.unavailable("the database is closing")) }
        if isFirst { wake.signal() }
    }

    /// Commits what waits, then ends the thread.
    func stop() async {
        await withCheckedContinuation { continuation in
            let alreadyStopping = state.withLock { state in
                guard state.stopping == nil else { return true }
                state.stopping = { continuation.resume() }
                return false
            }
            if alreadyStopping { continuation.resume() }
            wake.signal()
        }
    }

    private func run() {
        while true {
            wake.wait()
            while let group = next() { commit(group) }
            if let stopped = state.withLock({ $0.waiting.isEmpty ? $0.stopping : nil }) {
                return stopped()
            }
        }
    }

    private func next() -> [any GroupMember]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else { return nil }
            let group = Array(state.waiting.prefix(Self.largestGroup))
            state.waiting.removeFirst(group.count)
            return group
        }
    }

    private func commit(_ group: [any GroupMember]) {
        var failure: (any Error)?
        do {
            try pool.writeWithoutTransaction { db in try transaction(with: group, on: db) }
        } catch let error as DatabaseError {
            failure = StorageError(error)
        } catch {
            failure = error
        }
        for member in group { member.finish(failure: failure) }
    }

    private func transaction(with group: [any GroupMember], on db: GRDB.Database) throws {
        try db.run("BEGIN IMMEDIATE")
        do {
            for member in group {
                try db.run("SAVEPOINT member")
                if !member.run(in: SQLiteTransaction(db: db)) {
                    // After a full disk or an I/O error SQLite has rolled everything back: nobody was served.
                    guard db.isInsideTransaction else { throw StorageError.unavailable("SQLite rolled back") }
                    try db.run("ROLLBACK TO member")
                }
                try db.run("RELEASE member")
            }
            try db.run("COMMIT")
        } catch {
            if db.isInsideTransaction { try? db.run("ROLLBACK") }
            throw error
        }
    }
}

/// One caller of `write`, whatever it returns.
protocol GroupMember: Sendable {
    /// Runs the work; false when it threw.
    func run(in transaction: SQLiteTransaction) -> Bool
    /// Answers the caller after the commit, or with `failure` when the whole group failed.
    func finish(failure: (any Error)?)
}

/// A write that waits for its group. Only the writer's thread touches `outcome`.
final class PendingWrite<Value: Sendable>: GroupMember, @unchecked Sendable {
    private let work: @Sendable (any Storage.Transaction) throws -> Value
    private let continuation: CheckedContinuation<Value, any Error>
    private var outcome: Result<Value, any Error>?

    init(
        work: @escaping @Sendable (any Storage.Transaction) throws -> Value,
        continuation: CheckedContinuation<Value, any Error>
    ) {
        self.work = work
        self.continuation = continuation
    }

    func run(in transaction: SQLiteTransaction) -> Bool {
        do {
            outcome = .success(try work(transaction))
            return true
        } catch let error as DatabaseError {
            outcome = .failure(StorageError(error))
        } catch {
            outcome = .failure(error)
        }
        return false
    }

    func finish(failure: (any Error)?) {
        // A member's own refusal is the better answer than its group's failure.
        switch (outcome, failure) {
        case (.failure(let error), _): continuation.resume(throwing: error)
        case (_, let failure?): continuation.resume(throwing: failure)
        case (.success(let value), nil): continuation.resume(returning: value)
        case (nil, nil): continuation.resume(throwing: StorageError.unavailable("the write did not run"))
        }
    }
}
