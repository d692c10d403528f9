import Dispatch
import Storage
import Synchronization

/// Work for the connections' threads, the oldest first. Work that waits too long is refused.
///
/// Lone requests of several callers go to one thread together, all of a kind that wait when it becomes free. While it
/// runs them, for a tenth of a second at most, no other takes requests of that kind: under load each has many.
final class WorkQueue: Sendable {
    /// One job. It is run or refused; where it runs too long, both.
    struct Work: Sendable {
        let run: @Sendable (Session) -> Void
        let refuse: @Sendable (StorageError) -> Void
    }

    /// What one thread does next.
    enum Task {
        case work(Work)
        case group([LoneRequest])
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
        let entry = Entry(item: work)
        try state.withLock { state throws(StorageError) in
            try state.confirmOpen()
            state.arriving.append(entry)
        }
        available.signal()
    }

    /// Passes `request` to the next thread that may run a group.
    func add(_ request: LoneRequest) throws(StorageError) {
        let entry = Entry(item: request)
        let isNews = try state.withLock { state throws(StorageError) in
            try state.confirmOpen()
            return state.add(entry)
        }
        if isNews { available.signal() }
    }

    /// Passes `request` to the next free thread, which runs it for itself.
    func addAlone(_ request: LoneRequest, run: @escaping @Sendable (Session) -> Void) {
        do { try add(Work(run: run, refuse: request.refuse)) } catch { request.refuse(error) }
    }

    /// Waits for work for `thread`, whose last is done. Nil ends it: the queue is closed and empty.
    func next(for thread: Int) -> Task? {
        // Nobody signals requests that came while a thread was at others.
        let group = state.withLock { state in
            state.finish(thread)
            return state.hasOlderWork ? nil : state.nextGroup(for: thread)
        }
        if let group { return group }
        while true {
            available.wait()
            let (task, isOver) = state.withLock { state in
                let task = state.next(for: thread)
                return (task, task == nil && state.isClosed)
            }
            if let task { return task }
            // Otherwise the work of this signal has already been done or refused.
            if isOver { return nil }
        }
    }

    /// Refuses work that has waited too long. False when all threads have ended.
    @discardableResult func refuseOverdue() -> Bool {
        let (refusals, longest, isAlive, isWaiting) = state.withLock { state in
            let now = ContinuousClock.now
            let refusals = state.overdue(at: now, patience)
            return (refusals, state.longest, state.threads > 0, state.hasGroup(at: now))
        }
        // Those that run groups may be waiting for a server that has fallen silent.
        if isWaiting { available.signal() }
        for refuse in refusals { refuse(.unavailable("PostgreSQL was too busy for \(longest ?? patience)")) }
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
        let (refusals, closers) = state.withLock { state in state.abandon() }
        for refuse in refusals { refuse(.unavailable("the database is closing")) }
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
