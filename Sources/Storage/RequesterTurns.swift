import Synchronization
import Threads

/// For whom a scan reads or a change is made: who takes turns with others.
public struct Requester: Sendable, Hashable {
    /// Of one share few run at once.
    let share: String
    /// Who of the share asks.
    let part: String

    private init(_ share: String, _ part: String = "") { (self.share, self.part) = (share, part) }

    /// Those who run the server.
    public static let platform = Requester("platform")
    /// A merchant's backends and administrators, by its id.
    public static func merchant(_ id: String) -> Requester { Requester("merchant \(id)") }
    /// A client without a merchant, by its id.
    public static func client(_ id: String) -> Requester { Requester("client \(id)") }
    /// A user, by their number. All users have one share: one person may be many of them.
    public static func user(_ number: Int64) -> Requester { Requester(ofUsers, "\(number)") }
    fileprivate static let ofUsers = "users"
    /// A page of a user's own, by their number: each user has a share, as a merchant has.
    public static func page(of user: Int64) -> Requester { Requester("page \(user)") }

    /// The same share, of which `part` asks.
    public func asked(by part: String) -> Requester { Requester(share, part) }
}

/// Lets few scans, or changes, run at once, so that many that are asked for together neither take all connections nor
/// all memory.
///
/// Shares take turns, and within a share its parts do: whoever asks for much waits for themselves. Where too many wait,
/// the last one of the largest part makes room for a smaller one.
public final class RequesterTurns: Sendable {
    private typealias Caller = CheckedContinuation<Void, any Error>

    private struct Bounds {
        let running: Int
        let runningOfShare: Int
        let waitingOfShare: Int
        /// What waits keeps its request in memory.
        let waiting = 512

        func waiting(of share: String) -> Int { share == Requester.ofUsers ? waiting / 2 : waitingOfShare }
    }

    private struct State {
        let bounds: Bounds
        /// How many run of each share.
        var running: [String: Int] = [:]
        /// The share of everything that waits, in the order of turns.
        var shares = Turns<String>()
        /// What waits of each share, by its parts.
        var waiting: [String: Turns<Caller>] = [:]
        var isOver = false

        /// Whether `caller` may run at once, and who is refused instead of waiting.
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

        /// Who runs next, now that one of `share` has ended.
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

        /// Of the share with the most, if that is larger than `share`.
        private mutating func takeLastOfLargest(besides share: String) -> Caller? {
            guard let largest = shares.takeLastOfLargest(besides: share) else { return nil }
            defer { forgetIfEmpty(largest) }
            return waiting[largest]?.takeLastOfLargest()
        }

        /// Of the same share, if a part is larger than that of `requester`.
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

    /// `most` of what `kind` names run at once, and of one share `ofShare`, while `waiting` of it wait.
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

    /// Refuses what waits, from now on: the process is about to end.
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
