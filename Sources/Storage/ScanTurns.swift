import Synchronization
import Threads

/// For whom a scan reads: who takes turns with others.
public struct ScanRequester: Sendable, Hashable {
    let name: String

    init(_ name: String) { self.name = name }

    /// Those who run the server.
    public static let platform = ScanRequester("platform")
    /// A merchant's backends and administrators, by its id.
    public static func merchant(_ id: String) -> ScanRequester { ScanRequester("merchant \(id)") }
    /// A client without a merchant, by its id.
    public static func client(_ id: String) -> ScanRequester { ScanRequester("client \(id)") }
    public static func user(_ number: Int64) -> ScanRequester { ScanRequester("\(ofUsers)\(number)") }
    fileprivate static let ofUsers = "user "
}

/// Lets few scans run at once, so that many that are asked for together neither take all connections nor all memory.
///
/// Requesters take turns, and of one requester one scan runs at a time: whoever asks for much waits for themselves. Of
/// users, of whom one person may be many, one runs at a time in all, and half of those that wait may be theirs.
public final class ScanTurns: Sendable {
    /// Of one requester, and in all. What waits keeps its request in memory.
    private static let mostWaitingOfOne = 32
    private static let mostWaiting = 512

    private struct State {
        var running: Set<String> = []
        var waiting = Turns<CheckedContinuation<Void, any Error>>()
        var isOver = false

        /// Whether `caller` may run at once; who is refused instead of waiting, and why.
        mutating func add(
            _ caller: CheckedContinuation<Void, any Error>, of requester: String, _ most: Int
        ) -> (Bool, CheckedContinuation<Void, any Error>?, StorageError) {
            guard !isOver else { return (false, caller, ScanTurns.closing) }
            if running.count < most, mayRun(requester) {
                running.insert(requester)
                return (true, nil, ScanTurns.tooMany)
            }
            guard waiting.count(of: requester) < ScanTurns.mostWaitingOfOne else {
                return (false, caller, ScanTurns.tooMany)
            }
            var displaced: CheckedContinuation<Void, any Error>?
            let usersAreMany = requester.isUser && waiting.count(where: \.isUser) >= ScanTurns.mostWaiting / 2
            if usersAreMany || waiting.count >= ScanTurns.mostWaiting {
                displaced = waiting.takeLastOfLargest(besides: requester) { !usersAreMany || $0.isUser }
                guard displaced != nil else { return (false, caller, ScanTurns.tooMany) }
            }
            waiting.insert(caller, of: requester)
            return (false, displaced, ScanTurns.tooMany)
        }

        /// Who runs next, now that one has ended.
        mutating func next() -> CheckedContinuation<Void, any Error>? {
            guard let (requester, caller) = waiting.takeFirst(where: mayRun) else { return nil }
            running.insert(requester)
            return caller
        }

        private func mayRun(_ requester: String) -> Bool {
            !running.contains(requester) && !(requester.isUser && running.contains(where: \.isUser))
        }
    }

    private let most: Int
    private let state = Mutex(State())

    /// `most` run at once.
    public init(most: Int) { self.most = most }

    /// Runs `scan` when it is the turn of `requester`. Throws `StorageError.unavailable` when too many wait.
    public func run<Value: Sendable>(
        for requester: ScanRequester, _ scan: () async throws -> Value
    ) async throws -> Value {
        try await enter(requester.name)
        defer { leave(requester.name) }
        return try await scan()
    }

    /// Refuses what waits, from now on: the process is about to end.
    public func close() {
        let refused = state.withLock { state in
            state.isOver = true
            return state.waiting.takeAll()
        }
        for caller in refused { caller.resume(throwing: Self.closing) }
    }

    private func enter(_ requester: String) async throws {
        try await withCheckedThrowingContinuation { (caller: CheckedContinuation<Void, any Error>) in
            let (mayRun, refused, reason) = state.withLock { state in state.add(caller, of: requester, most) }
            if mayRun { caller.resume() }
            refused?.resume(throwing: reason)
        }
    }

    private func leave(_ requester: String) {
        let next = state.withLock { state in
            state.running.remove(requester)
            return state.next()
        }
        next?.resume()
    }

    private static let closing = StorageError.unavailable("the database is closing")
    private static let tooMany = StorageError.unavailable("too many lists and downloads are waiting")
}

extension String {
    fileprivate var isUser: Bool { hasPrefix(ScanRequester.ofUsers) }
}
