import Dispatch
import Storage
import Synchronization

/// Work for the connections' threads, the oldest first. Work that waits too long is refused.
///
/// Lone requests of several callers go to one thread together: all of a kind that wait when it becomes free. While it
/// runs them, for a tenth of a second at most, no other thread takes requests of that kind, so that groups are large
/// under load.
///
/// Work that has lost several races for its rows comes back, and waits for its turn (`Lanes`).
final class WorkQueue: Sendable {
    /// One job. It is run or refused, or both if it runs too long.
    struct Work: Sendable {
        /// Whether it only reads, and so never waits for a lock.
        let isRead: Bool
        /// How it lost the races before this run.
        var lost: LostRaces?
        /// Throws only `LostRaces`: then it has to run again.
        let run: @Sendable (Session, LostRaces?) throws(LostRaces) -> Void
        let refuse: Refusal

        init<Value>(
            isRead: Bool, for caller: Caller<Value>,
            _ run: @escaping @Sendable (Session, LostRaces?) throws(LostRaces) -> Void
        ) {
            self.isRead = isRead
            self.run = run
            refuse = { caller.answer(.failure($0)) }
        }
    }

    /// What one thread does next.
    enum Task {
        case work(Work)
        case group([LoneRequest])
    }

    private let state: Mutex<State>
    private let patience: Duration
    /// Signalled once for each thread that is to look for work.
    private let available = DispatchSemaphore(value: 0)

    /// `patience` is how long work may wait for a thread.
    init(threads: Int, patience: Duration) {
        state = Mutex(State(threads: threads))
        self.patience = patience
    }

    /// Passes `work` to the next free thread.
    func add(_ work: Work) throws(StorageError) {
        let isNews = try state.withLock { state throws(StorageError) in
            try state.confirmOpen()
            state.add(work)
            return state.wakesOne()
        }
        if isNews { available.signal() }
    }

    /// Passes `request` to the next thread that may run a group.
    func add(_ request: LoneRequest) throws(StorageError) {
        let isNews = try state.withLock { state throws(StorageError) in
            try state.confirmOpen()
            state.add(request)
            return state.wakesOne()
        }
        if isNews { available.signal() }
    }

    /// Passes `work` to a thread in its turn, even if the queue is closed, because it has begun.
    func putBack(_ work: Work, for lost: LostRaces) {
        var work = work
        work.lost = lost
        let isNews = state.withLock { [work] state in
            state.putBack(work, for: lost)
            return state.wakesOne()
        }
        if isNews { available.signal() }
    }

    /// Whether work that has lost a race in `lane` already waits for its turn.
    func isBusy(_ lane: Lane) -> Bool { state.withLock { $0.isBusy(lane) } }

    /// Notes that the last task of `thread` is done, if `next` is not called at once.
    func finish(_ thread: Int) {
        let isNews = state.withLock { state in
            state.finish(thread)
            return state.wakesOne()
        }
        if isNews { available.signal() }
    }

    /// Waits for work for `thread`, which has finished its last task. Nil ends the thread: the queue is closed
    /// and has no task left for it.
    func next(for thread: Int) -> Task? {
        while true {
            let (task, isOver, isNews) = state.withLock { state in
                state.finish(thread)
                let task = state.next(for: thread)
                let isOver = task == nil && state.isClosed
                if task == nil, !isOver { state.rest() }
                // The end of the last task may have freed further work.
                return (task, isOver, task != nil && state.wakesOne())
            }
            if isNews { available.signal() }
            if let task { return task }
            // Remaining work waits for a busy thread, which takes it.
            if isOver { return nil }
            available.wait()
        }
    }

    /// Refuses work that has waited too long. False when all threads have ended.
    @discardableResult func refuseOverdue() -> Bool {
        let (refusals, longest, isAlive, isNews) = state.withLock { state in
            let refusals = state.overdue(at: .now, patience)
            return (refusals, state.longest, state.threads > 0, state.wakesOne())
        }
        // Threads that run groups may be waiting for a server that stopped answering.
        if isNews { available.signal() }
        for refuse in refusals { refuse(.unavailable("PostgreSQL was too busy for \(longest ?? patience)")) }
        return isAlive
    }

    /// From now on refuses work that takes longer than `longest`, even while its thread runs it.
    func refuse(over longest: Duration) {
        state.withLock { $0.longest = longest }
        refuseOverdue()
    }

    /// Whether `refuse(over:)` was called.
    var isHurried: Bool { state.withLock { $0.longest != nil } }

    /// Takes no more work; queued work is still done.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            return state.wakeAll()
        }
        for _ in 0..<idle { available.signal() }
    }

    /// Takes no more work, and refuses what is queued and running. Does not wait for threads, which may be blocked.
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
