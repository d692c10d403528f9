import Storage

/// What transactions race for: identified by their first statement and the first text in it, which nearly always names
/// the row. Without a text, by the last number, which is a user's or a time; a time makes a lane of one transaction.
struct Lane: Hashable, Sendable {
    private let statement: SQL.Shape
    private let name: String?

    init(of first: SQL) {
        statement = first.shape
        let texts = first.parts.lazy.compactMap { if case .value(.text(let text)) = $0 { text } else { nil } }
        let numbers = first.parts.lazy.compactMap { if case .value(.integer(let number)) = $0 { number } else { nil } }
        name = texts.first ?? numbers.reversed().first.map { "\($0)" }
    }
}

/// Work has lost too many races, and must wait for its turn. The thread that ran it does something else.
struct LostRaces: Error {
    let lane: Lane
    /// How often it has lost in all.
    let count: Int
    /// How often it has lost while it had its turn.
    let inTurn: Int
}

/// Work that has lost races for its rows, by lane. One task of each lane runs at a time, so that losers do not race
/// each other, and few lanes run at once. So a contended row takes few threads, however much work waits for it.
struct Lanes {
    typealias Entry = WorkQueue.Entry<WorkQueue.Work>

    /// How many run at once.
    private let most: Int
    private var waiting: [Lane: Fifo<Entry>] = [:]
    /// Lanes of which nothing runs, in turn. One may be here twice, or have nothing left.
    private var ready = Fifo<Lane>()
    private var running: [Int: Lane] = [:]
    private(set) var count = 0

    init(most: Int) { self.most = most }

    /// Whether a thread may take something now.
    var mayRun: Bool { running.count < most && !ready.isEmpty }

    /// Whether work waits in `lane`.
    func isBusy(_ lane: Lane) -> Bool { waiting[lane] != nil }

    /// Adds `entry` to its lane: at the front if it lost in its turn, so that the oldest is done first.
    mutating func add(_ entry: Entry, for lost: LostRaces) {
        if waiting[lost.lane] == nil { ready.append(lost.lane) }
        if lost.inTurn > 0 {
            waiting[lost.lane, default: Fifo()].prepend(entry)
        } else {
            waiting[lost.lane, default: Fifo()].append(entry)
        }
        count += 1
    }

    mutating func take(for thread: Int) -> Entry? {
        guard running.count < most else { return nil }
        while let lane = ready.popFirst() {
            guard !running.values.contains(lane), var entries = waiting.removeValue(forKey: lane),
                let entry = entries.popFirst()
            else { continue }
            if !entries.isEmpty { waiting[lane] = entries }
            running[thread] = lane
            count -= 1
            return entry
        }
        return nil
    }

    /// Notes that the last task of `thread` is done.
    mutating func finish(_ thread: Int) {
        guard let lane = running.removeValue(forKey: thread), waiting[lane] != nil else { return }
        ready.append(lane)
    }

    /// Removes and returns what has waited since `then` or longer.
    mutating func remove(waitingSince then: ContinuousClock.Instant) -> [Entry] {
        var removed: [Entry] = []
        for lane in waiting.keys {
            guard var entries = waiting.removeValue(forKey: lane) else { continue }
            removed += entries.remove { $0.since <= then }
            if !entries.isEmpty { waiting[lane] = entries }
        }
        count -= removed.count
        return removed
    }

    mutating func removeAll() -> [Entry] {
        defer { (waiting, ready, count) = ([:], Fifo(), 0) }
        return waiting.values.flatMap(\.elements)
    }
}
