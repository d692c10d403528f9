import Storage

extension WorkQueue {
    struct Entry<Item: Sendable>: Sendable {
        let item: Item
        /// When it came.
        let since = ContinuousClock.now
    }

    typealias Refusal = @Sendable (StorageError) -> Void

    struct State {
        /// With more work than this the database is hopelessly behind, and refusing is better than queueing.
        private static let limit = 10_000
        /// The most requests of a group.
        private static let mostOfGroup = 256
        /// A thread that has run its group for so long counts no more: the others must not wait for it.
        private static let longestGroup = Duration.milliseconds(100)

        /// Two stacks make a queue: `leaving` is the older half, newest first.
        var arriving: [Entry<Work>] = []
        private var leaving: [Entry<Work>] = []
        /// By kind: SELECTs do not wait for a disk.
        private var requests: [LoneRequest.Kind: [Entry<LoneRequest>]] = [:]
        var isClosed = false
        private(set) var isAbandoned = false
        /// How long work may take in all, waiting and running; nil while only its wait for a thread is limited.
        var longest: Duration?
        var threads: Int
        /// What each thread is doing since when: how to refuse it.
        private var running: [Int: (refusals: [Refusal], since: ContinuousClock.Instant)] = [:]
        /// Which thread runs a group of a kind, since when.
        private var groups: [LoneRequest.Kind: (thread: Int, since: ContinuousClock.Instant)] = [:]
        var closers: [CheckedContinuation<Void, Never>] = []

        init(threads: Int) { self.threads = threads }

        func confirmOpen() throws(StorageError) {
            guard !isClosed else { throw .unavailable("the database is closed") }
            guard arriving.count + leaving.count + requests.values.reduce(0, { $0 + $1.count }) < Self.limit else {
                throw .unavailable("too much work is waiting for PostgreSQL")
            }
        }

        /// Adds `entry`. Whether a thread may take it now.
        mutating func add(_ entry: Entry<LoneRequest>) -> Bool {
            requests[entry.item.kind, default: []].append(entry)
            return mayRun(entry.item.kind, at: entry.since)
        }

        /// Whether requests wait that a thread may take now.
        func hasGroup(at now: ContinuousClock.Instant) -> Bool {
            requests.contains { !$0.value.isEmpty && mayRun($0.key, at: now) }
        }

        private func mayRun(_ kind: LoneRequest.Kind, at now: ContinuousClock.Instant) -> Bool {
            guard let group = groups[kind] else { return true }
            return now - group.since >= Self.longestGroup
        }

        /// Notes that the last task of `thread` is done.
        mutating func finish(_ thread: Int) {
            running.removeValue(forKey: thread)
            for (kind, group) in groups where group.thread == thread { groups.removeValue(forKey: kind) }
        }

        /// Whether work has waited longer than every request of a group.
        var hasOlderWork: Bool {
            guard let work = leaving.last ?? arriving.first else { return false }
            return requests.values.allSatisfy { $0.first.map { work.since < $0.since } ?? true }
        }

        /// The next task of `thread`, which was signalled. Work first: each has its signal, and a group may have none.
        mutating func next(for thread: Int) -> Task? {
            guard let entry = nextWork() else { return nextGroup(for: thread) }
            running[thread] = ([entry.item.refuse], entry.since)
            return .work(entry.item)
        }

        /// The requests that wait, of one kind, when `thread` may take them.
        mutating func nextGroup(for thread: Int) -> Task? {
            let now = ContinuousClock.now
            for kind in LoneRequest.Kind.allCases where mayRun(kind, at: now) {
                guard let waiting = requests[kind], let oldest = waiting.first else { continue }
                let group = waiting.prefix(Self.mostOfGroup).map(\.item)
                requests[kind]?.removeFirst(group.count)
                groups[kind] = (thread, now)
                running[thread] = (group.map(\.refuse), oldest.since)
                return .group(group)
            }
            return nil
        }

        private mutating func nextWork() -> Entry<Work>? {
            if leaving.isEmpty {
                leaving = arriving.reversed()
                arriving.removeAll(keepingCapacity: true)
            }
            return leaving.popLast()
        }

        /// Takes out what has waited longer than `patience`, and what has taken too long in all.
        mutating func overdue(at now: ContinuousClock.Instant, _ patience: Duration) -> [Refusal] {
            let patience = min(patience, longest ?? patience)
            var refusals: [Refusal] = []
            while let oldest = leaving.last ?? arriving.first, now - oldest.since >= patience, let entry = nextWork() {
                refusals.append(entry.item.refuse)
            }
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

        /// Gives up everything: returns how to refuse it, and who waits for the end.
        mutating func abandon() -> ([Refusal], [CheckedContinuation<Void, Never>]) {
            isAbandoned = true
            let refusals =
                (leaving + arriving).map(\.item.refuse) + requests.values.flatMap { $0.map(\.item.refuse) }
                + running.values.flatMap(\.refusals)
            defer { (arriving, leaving, requests, running, closers) = ([], [], [:], [:], []) }
            return (refusals, closers)
        }
    }
}
