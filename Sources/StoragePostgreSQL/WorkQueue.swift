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

extension WorkQueue {
    struct Entry<Item: Sendable>: Sendable {
        let item: Item
        /// When it was queued.
        let since = ContinuousClock.now
    }

    typealias Refusal = @Sendable (StorageError) -> Void

    struct State {
        /// With more work than this the database is hopelessly behind, and refusing is better than queueing.
        private static let limit = 10_000
        /// The most requests of a group.
        private static let mostOfGroup = 256
        /// A thread that has run its group for this long is ignored, so that other requests do not wait for it.
        private static let longestGroup = Duration.milliseconds(100)

        private var reads = Fifo<Entry<Work>>()
        private var writes = Fifo<Entry<Work>>()
        private var lanes: Lanes
        /// By kind, because SELECTs do not wait for a disk.
        private var requests: [LoneRequest.Kind: [Entry<LoneRequest>]] = [:]
        var isClosed = false
        private(set) var isAbandoned = false
        /// How long work may take in all, waiting and running; nil while only its wait for a thread is limited.
        var longest: Duration?
        var threads: Int
        /// How many threads wait for a signal.
        private var idle = 0
        /// How many threads may write at once; the others are for reads and groups. A write may wait for a locked row,
        /// and all writes for the same one.
        private let mostWriters: Int
        private var writers: Set<Int> = []
        /// What each thread is running since when, and how to refuse it.
        private var running: [Int: (refusals: [Refusal], since: ContinuousClock.Instant)] = [:]
        /// Which thread runs a group of a kind, and since when.
        private var groups: [LoneRequest.Kind: (thread: Int, since: ContinuousClock.Instant)] = [:]
        var closers: [CheckedContinuation<Void, Never>] = []

        init(threads: Int) {
            self.threads = threads
            let quarter = threads / 4
            mostWriters = threads - quarter
            lanes = Lanes(most: max(1, quarter))
        }

        func confirmOpen() throws(StorageError) {
            guard !isClosed else { throw .unavailable("the database is closed") }
            let waiting = requests.values.reduce(reads.count + writes.count + lanes.count) { $0 + $1.count }
            guard waiting < Self.limit else { throw .unavailable("too much work is waiting for PostgreSQL") }
        }

        mutating func add(_ work: Work) {
            if work.isRead { reads.append(Entry(item: work)) } else { writes.append(Entry(item: work)) }
        }

        mutating func add(_ request: LoneRequest) { requests[request.kind, default: []].append(Entry(item: request)) }

        /// Keeps `work` until it is its turn.
        mutating func putBack(_ work: Work, for lost: LostRaces) { lanes.add(Entry(item: work), for: lost) }

        func isBusy(_ lane: Lane) -> Bool { lanes.isBusy(lane) }

        /// Notes that the last task of `thread` is done.
        mutating func finish(_ thread: Int) {
            running.removeValue(forKey: thread)
            writers.remove(thread)
            lanes.finish(thread)
            for (kind, group) in groups where group.thread == thread { groups.removeValue(forKey: kind) }
        }

        private func mayRun(_ kind: LoneRequest.Kind, at now: ContinuousClock.Instant) -> Bool {
            guard let group = groups[kind] else { return true }
            return now - group.since >= Self.longestGroup
        }

        private var mayWrite: Bool { writers.count < mostWriters }

        /// Whether a task waits that a thread may take now.
        private func hasTask(at now: ContinuousClock.Instant) -> Bool {
            !reads.isEmpty || (mayWrite && (!writes.isEmpty || lanes.mayRun))
                || requests.contains { !$0.value.isEmpty && mayRun($0.key, at: now) }
        }

        /// Whether to signal a thread: one waits, and there is something for it.
        mutating func wakesOne() -> Bool {
            guard idle > 0, hasTask(at: .now) else { return false }
            idle -= 1
            return true
        }

        /// Notes that a thread is about to wait for a signal.
        mutating func rest() { idle += 1 }

        /// How many threads to signal so that none stays idle.
        mutating func wakeAll() -> Int {
            defer { idle = 0 }
            return idle
        }

        /// The next task of `thread`: the oldest, but work that has lost races goes first.
        mutating func next(for thread: Int) -> Task? {
            let now = ContinuousClock.now
            if mayWrite, let entry = lanes.take(for: thread) { return run(entry, on: thread) }
            let write = mayWrite ? writes.first : nil
            let isWrite = write.map { write in reads.first.map { write.since < $0.since } ?? true } ?? false
            let oldest = isWrite ? write : reads.first
            if let group = nextGroup(for: thread, at: now, before: oldest?.since) { return group }
            guard let entry = isWrite ? writes.popFirst() : reads.popFirst() else { return nil }
            return run(entry, on: thread)
        }

        private mutating func run(_ entry: Entry<Work>, on thread: Int) -> Task {
            running[thread] = ([entry.item.refuse], entry.since)
            if !entry.item.isRead { writers.insert(thread) }
            return .work(entry.item)
        }

        /// The waiting requests of one kind, if `thread` may take them and none is younger than `limit`.
        private mutating func nextGroup(
            for thread: Int, at now: ContinuousClock.Instant, before limit: ContinuousClock.Instant?
        ) -> Task? {
            for kind in LoneRequest.Kind.allCases where mayRun(kind, at: now) {
                guard let waiting = requests[kind], let oldest = waiting.first,
                    limit.map({ oldest.since <= $0 }) ?? true
                else { continue }
                let group = waiting.prefix(Self.mostOfGroup).map(\.item)
                requests[kind]?.removeFirst(group.count)
                groups[kind] = (thread, now)
                running[thread] = (group.map(\.refuse), oldest.since)
                return .group(group)
            }
            return nil
        }

        /// Removes and returns what has waited longer than `patience`, and what has taken too long in all.
        mutating func overdue(at now: ContinuousClock.Instant, _ patience: Duration) -> [Refusal] {
            let patience = min(patience, longest ?? patience)
            let late =
                reads.popWhile { now - $0.since >= patience } + writes.popWhile { now - $0.since >= patience }
                + lanes.remove(waitingSince: now - patience)
            var refusals = late.map(\.item.refuse)
            for (kind, waiting) in requests {
                let late = waiting.prefix { now - $0.since >= patience }
                refusals += late.map(\.item.refuse)
                requests[kind]?.removeFirst(late.count)
            }
            guard let longest else { return refusals }
            for (thread, entry) in running where now - entry.since >= longest {
                refusals += entry.refusals
                running.removeValue(forKey: thread)
            }
            return refusals
        }

        /// Abandons everything: returns how to refuse it, and the callers that wait for the end.
        mutating func abandon() -> ([Refusal], [CheckedContinuation<Void, Never>]) {
            isAbandoned = true
            let refusals =
                (reads.elements + writes.elements + lanes.removeAll()).map(\.item.refuse)
                + requests.values.flatMap { $0.map(\.item.refuse) } + running.values.flatMap(\.refusals)
            defer { (reads, writes, requests, running, closers) = (Fifo(), Fifo(), [:], [:], []) }
            return (refusals, closers)
        }
    }
}

/// A queue of two stacks: `leaving` is the older half, newest first.
struct Fifo<Element> {
    private var arriving: [Element] = []
    private var leaving: [Element] = []

    var isEmpty: Bool { leaving.isEmpty && arriving.isEmpty }
    var count: Int { leaving.count + arriving.count }
    var first: Element? { leaving.last ?? arriving.first }
    /// The oldest first.
    var elements: [Element] { leaving.reversed() + arriving }

    mutating func append(_ element: Element) { arriving.append(element) }

    /// Adds `element` before all others.
    mutating func prepend(_ element: Element) { leaving.append(element) }

    mutating func popFirst() -> Element? {
        if leaving.isEmpty {
            leaving = arriving.reversed()
            arriving.removeAll(keepingCapacity: true)
        }
        return leaving.popLast()
    }

    /// Removes and returns the first elements, as long as `isDone` holds.
    mutating func popWhile(_ isDone: (Element) -> Bool) -> [Element] {
        var popped: [Element] = []
        while let first, isDone(first), let element = popFirst() { popped.append(element) }
        return popped
    }

    /// Removes and returns the elements for which `isDone` holds, wherever they are.
    mutating func remove(where isDone: (Element) -> Bool) -> [Element] {
        let all = elements
        let done = all.filter(isDone)
        guard !done.isEmpty else { return [] }
        (arriving, leaving) = (all.filter { !isDone($0) }, [])
        return done
    }
}
