import Synchronization
import Threads

/// The party that a scan reads for or a change is made for, which takes turns with others.
public struct Requester: Sendable, Hashable {
    /// Only a few of one share run at once.
    let share: String
    /// The part of the share that asks.
    let part: String

    private init(_ share: String, _ part: String = "") { (self.share, self.part) = (share, part) }

    /// The operators of the server.
    public static let platform = Requester("platform")
    /// A merchant's backends and administrators, by its id.
    public static func merchant(_ id: String) -> Requester { Requester("merchant \(id)") }
    /// A client without a merchant, by its id.
    public static func client(_ id: String) -> Requester { Requester("client \(id)") }
    /// A user, by their number. All users have one share, because one party may sign up many.
    public static func user(_ number: Int64) -> Requester { Requester(ofUsers, "\(number)") }
    fileprivate static let ofUsers = "users"
    /// A user's own page, by the user's number: here each user has a share, as a merchant has.
    public static func page(of user: Int64) -> Requester { Requester("page \(user)") }

    /// The same share, asked for by `part`.
    public func asked(by part: String) -> Requester { Requester(share, part) }
}

/// Lets few scans, or changes, run at once, so that many requests together take neither all connections nor all memory.
///
/// Shares take turns, and within a share its parts do, so a requester with much work waits only for itself. When the
/// queue is full, the newest request of the largest part is dropped.
public final class RequesterTurns: Sendable {
    private typealias Caller = CheckedContinuation<Void, any Error>

    private struct Bounds {
        let running: Int
        let runningOfShare: Int
        let waitingOfShare: Int
        /// A waiting request stays in memory.
        let waiting = 512

        func waiting(of share: String) -> Int { share == Requester.ofUsers ? waiting / 2 : waitingOfShare }
    }

    private struct State {
        let bounds: Bounds
        /// How many run of each share.
        var running: [String: Int] = [:]
        /// The shares that have something waiting, in the order of turns.
        var shares = Turns<String>()
        /// What waits in each share, by its parts.
        var waiting: [String: Turns<Caller>] = [:]
        var isOver = false

        /// Whether `caller` may run at once, and which caller is refused to make room, if any.
        mutating func add(_ caller: Caller, of requester: Requester) -> (Bool, Caller?) {
            guard !isOver else { return (false, caller) }
            let share = requester.share
            if running.values.reduce(0, +) < bounds.running, mayRun(share) {
                running[share, default: 0] += 1
                return (true, nil)
            }
            var displaced: Caller?
            let isFull = shares.count(of: share) >= bounds.waiting(of: share)
            if isFull || shares.count >= bounds.waiting {
                displaced = isFull ? nil : takeLastOfLargest(besides: share)
                displaced = displaced ?? takeLastOfLargest(besides: requester)
                guard displaced != nil else { return (false, caller) }
            }
            shares.insert(share, of: share)
            waiting[share, default: Turns()].insert(caller, of: requester.part)
            return (false, displaced)
        }

        /// The caller that runs next, now that one of `share` has ended.
        mutating func next(after share: String) -> Caller? {
            let left = running[share, default: 1] - 1
            running[share] = left > 0 ? left : nil
            guard let next = shares.takeFirst(where: mayRun)?.work else { return nil }
            running[next, default: 0] += 1
            defer { forgetIfEmpty(next) }
            return waiting[next]?.takeFirst()?.work
        }

        mutating func close() -> [Caller] {
            isOver = true
            defer { (shares, waiting) = (Turns(), [:]) }
            return waiting.values.flatMap(\.all)
        }

        private func mayRun(_ share: String) -> Bool { running[share, default: 0] < bounds.runningOfShare }

        /// Takes from the share with the most, if that is larger than `share`.
        private mutating func takeLastOfLargest(besides share: String) -> Caller? {
            guard let largest = shares.takeLastOfLargest(besides: share) else { return nil }
            defer { forgetIfEmpty(largest) }
            return waiting[largest]?.takeLastOfLargest()
        }

        /// Takes from the same share, if a part is larger than that of `requester`.
        private mutating func takeLastOfLargest(besides requester: Requester) -> Caller? {
            guard let last = waiting[requester.share]?.takeLastOfLargest(besides: requester.part) else { return nil }
            shares.takeLast(of: requester.share)
            return last
        }

        private mutating func forgetIfEmpty(_ share: String) {
            if waiting[share]?.count == 0 { waiting[share] = nil }
        }
    }

    private let tooMany: StorageError
    private let state: Mutex<State>

    /// Runs `most` of `kind` at once, at most `ofShare` of one share, and lets `waiting` of a share wait.
    public init(most: Int, ofShare: Int = 1, waiting: Int = 32, of kind: String) {
        tooMany = .tooMany(kind)
        state = Mutex(
            State(bounds: Bounds(running: most, runningOfShare: ofShare, waitingOfShare: waiting)))
    }

    /// Runs `work` when it is the turn of `requester`. Throws `StorageError.tooMany` when too many wait.
    public func run<Value: Sendable>(
        for requester: Requester, _ work: () async throws -> Value
    ) async throws -> Value {
        try await enter(requester)
        defer { leave(requester) }
        return try await work()
    }

    /// From now on refuses what waits, because the process is about to end.
    public func close() {
        let refused = state.withLock { $0.close() }
        for caller in refused { caller.resume(throwing: Self.closing) }
    }

    private func enter(_ requester: Requester) async throws {
        try await withCheckedThrowingContinuation { (caller: CheckedContinuation<Void, any Error>) in
            let (mayRun, refused, isOver) = state.withLock { state in
                let (mayRun, refused) = state.add(caller, of: requester)
                return (mayRun, refused, state.isOver)
            }
            if mayRun { caller.resume() }
            refused?.resume(throwing: isOver ? Self.closing : tooMany)
        }
    }

    private func leave(_ requester: Requester) {
        let next = state.withLock { $0.next(after: requester.share) }
        next?.resume()
    }

    private static let closing = StorageError.unavailable("the database is closing")
}
