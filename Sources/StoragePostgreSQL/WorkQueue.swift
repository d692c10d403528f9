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
        /// How long work may take in all, waiting and running; nil while only its wait for a thread is limited.
        var longest: Duration?
        var threads: Int
        /// What each thread is doing.
        var running: [Int: Entry] = [:]
        var closers: [CheckedContinuation<Void, Never>] = []

        mutating func next() -> Entry? {
            if leaving.isEmpty {
                leaving = arriving.reversed()
                arriving.removeAll(keepingCapacity: true)
            }
            return leaving.popLast()
        }

        /// Takes out what has waited longer than `patience`, and what has taken too long in all.
        mutating func overdue(at now: ContinuousClock.Instant, _ patience: Duration) -> [Work] {
            var works: [Work] = []
            let patience = min(patience, longest ?? patience)
            while let oldest = leaving.last ?? arriving.first, now - oldest.since >= patience, let entry = next() {
                works.append(entry.work)
            }
            guard let longest else { return works }
            for (thread, entry) in running where now - entry.since >= longest {
                works.append(entry.work)
                running.removeValue(forKey: thread)
            }
            return works
        }
    }

    private struct Entry {
        let work: Work
        /// When it came.
        let since = ContinuousClock.now
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
        let entry = Entry(work: work)
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
            let (entry, isOver) = state.withLock { state in
                let entry = state.next()
                state.running[thread] = entry
                return (entry, entry == nil && state.isClosed)
            }
            if let entry { return entry.work }
            // Otherwise the work of this signal has already been refused.
            if isOver { return nil }
        }
    }

    /// Refuses work that has waited too long. False when all threads have ended.
    @discardableResult func refuseOverdue() -> Bool {
        let (works, longest, isAlive) = state.withLock { state in
            (state.overdue(at: .now, patience), state.longest, state.threads > 0)
        }
        for work in works { work.refuse(.unavailable("PostgreSQL was too busy for \(longest ?? patience)")) }
        return isAlive
    }

    /// Refuses work that takes longer than `longest`, from now on, also where its thread runs it.
    func refuse(over longest: Duration) {
        state.withLock { $0.longest = longest }
        refuseOverdue()
    }

    /// Whether `refuse(over:)` was called.
    var isHurried: Bool { state.withLock { $0.longest != nil } }

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
            return ((state.leaving + state.arriving + state.running.values).map(\.work), state.closers)
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
