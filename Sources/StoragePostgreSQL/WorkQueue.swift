import Dispatch
import Storage
import Synchronization

/// Work for the connections' threads, in the order of its coming. Work that waits too long is refused.
final class WorkQueue: Sendable {
    /// One job. It is run or refused; where it runs too long, both.
    struct Work: Sendable {
        let run: @Sendable (Session) -> Void
        let refuse: @Sendable (StorageError) -> Void
    }

    /// With more work than this the database is hopelessly behind, and refusing is better than queueing.
    private static let limit = 10_000

    private struct State {
        /// Two stacks make a queue: `leaving` is the older half, newest first.
        var arriving: [Entry] = []
        var leaving: [Entry] = []
        var isClosed = false
        var isAbandoned = false
        var threads: Int
        /// What each thread is doing.
        var running: [Int: Work] = [:]
        var closers: [CheckedContinuation<Void, Never>] = []

        mutating func next() -> Work? {
            if leaving.isEmpty {
                leaving = arriving.reversed()
                arriving.removeAll(keepingCapacity: true)
            }
            return leaving.popLast()?.work
        }

        mutating func overdue(at now: ContinuousClock.Instant) -> [Work] {
            var works: [Work] = []
            while let oldest = leaving.last ?? arriving.first, oldest.deadline <= now, let work = next() {
                works.append(work)
            }
            return works
        }
    }

    private struct Entry {
        let work: Work
        let deadline: ContinuousClock.Instant
    }

    private let state: Mutex<State>
    private let patience: Duration
    /// Signalled once for each work added, and after closing once for each thread.
    private let available = DispatchSemaphore(value: 0)

    /// `patience` is how long work may wait for a thread.
    init(threads: Int, patience: Duration) {
        state = Mutex(State(threads: threads))
        self.patience = patience
    }

    /// Passes `work` to the next free thread.
    func add(_ work: Work) throws(StorageError) {
        let entry = Entry(work: work, deadline: .now + patience)
        try state.withLock { state throws(StorageError) in
            guard !state.isClosed else { throw .unavailable("the database is closed") }
            guard state.arriving.count + state.leaving.count < Self.limit else {
                throw .unavailable("too much work is waiting for PostgreSQL")
            }
            state.arriving.append(entry)
        }
        available.signal()
    }

    /// Waits for work for `thread`, whose last is done. Nil ends it: the queue is closed and empty.
    func next(for thread: Int) -> Work? {
        state.withLock { _ = $0.running.removeValue(forKey: thread) }
        while true {
            available.wait()
            let (work, isOver) = state.withLock { state in
                let work = state.next()
                state.running[thread] = work
                return (work, work == nil && state.isClosed)
            }
            if let work { return work }
            // Otherwise the work of this signal has already been refused.
            if isOver { return nil }
        }
    }

    /// Refuses work that has waited too long. False when all threads have ended.
    func refuseOverdue() -> Bool {
        let (works, isAlive) = state.withLock { state in (state.overdue(at: .now), state.threads > 0) }
        for work in works { work.refuse(.unavailable("PostgreSQL was too busy for \(patience)")) }
        return isAlive
    }

    /// Takes no more work; queued work is still done.
    func close() {
        let threads = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed ? 0 : state.threads
        }
        for _ in 0..<threads { available.signal() }
    }

    /// Takes no more work, refuses what is queued and what runs, and waits for no thread: some may be beyond reach.
    func abandon() {
        close()
        let (works, closers) = state.withLock { state in
            defer { (state.arriving, state.leaving, state.running, state.closers) = ([], [], [:], []) }
            state.isAbandoned = true
            return ((state.leaving + state.arriving).map(\.work) + state.running.values, state.closers)
        }
        for work in works { work.refuse(.unavailable("the database is closing")) }
        for closer in closers { closer.resume() }
    }

    /// Notes that a thread has ended.
    func threadEnded() {
        let closers = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.threads -= 1
            guard state.threads == 0 else { return [] }
            defer { state.closers = [] }
            return state.closers
        }
        for closer in closers { closer.resume() }
    }

    /// Returns when the last thread has ended, or all are abandoned.
    func ended() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                let isOver = state.threads == 0 || state.isAbandoned
                if !isOver { state.closers.append(continuation) }
                return isOver
            }
            if isOver { continuation.resume() }
        }
    }
}
