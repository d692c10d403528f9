import Storage

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
