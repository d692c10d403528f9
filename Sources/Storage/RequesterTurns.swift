import Synchronization
import Threads

/// For whom a scan reads or a change is made: who takes turns with others.
public struct Requester: Sendable, Hashable {
    let name: String

    init(_ name: String) { self.name = name }

    /// Those who run the server.
    public static let platform = Requester("platform")
    /// A merchant's backends and administrators, by its id.
    public static func merchant(_ id: String) -> Requester { Requester("merchant \(id)") }
    /// A client without a merchant, by its id.
    public static func client(_ id: String) -> Requester { Requester("client \(id)") }
    public static func user(_ number: Int64) -> Requester { Requester("\(ofUsers)\(number)") }
    fileprivate static let ofUsers = "user "
    /// A page of a user's own, by their number: each user has a turn, as a merchant has.
    public static func page(of user: Int64) -> Requester { Requester("page \(user)") }
}

/// Lets few scans, or changes, run at once, so that many that are asked for together neither take all connections nor
/// all memory.
///
/// Requesters take turns, and of one requester one runs at a time: whoever asks for much waits for themselves. Of
/// users, of whom one person may be many, one runs at a time in all, and half of those that wait may be theirs.
public final class RequesterTurns: Sendable {
    /// Of one requester, and in all. What waits keeps its request in memory.
    private static let mostWaitingOfOne = 32
    private static let mostWaiting = 512

    private struct State {
        var running: Set<String> = []
        var waiting = Turns<CheckedContinuation<Void, any Error>>()
        var isOver = false

        /// Whether `caller` may run at once, and who is refused instead of waiting.
        mutating func add(
            _ caller: CheckedContinuation<Void, any Error>, of requester: String, _ most: Int
        ) -> (Bool, CheckedContinuation<Void, any Error>?) {
            guard !isOver else { return (false, caller) }
            if running.count < most, mayRun(requester) {
                running.insert(requester)
                return (true, nil)
            }
            guard waiting.count(of: requester) < RequesterTurns.mostWaitingOfOne else { return (false, caller) }
            var displaced: CheckedContinuation<Void, any Error>?
            let usersAreMany = requester.isUser && waiting.count(where: \.isUser) >= RequesterTurns.mostWaiting / 2
            if usersAreMany || waiting.count >= RequesterTurns.mostWaiting {
                displaced = waiting.takeLastOfLargest(besides: requester) { !usersAreMany || $0.isUser }
                guard displaced != nil else { return (false, caller) }
            }
            waiting.insert(caller, of: requester)
            return (false, displaced)
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
    private let tooMany: StorageError
    private let state = Mutex(State())

    /// `most` of what `kind` names run at once.
    public init(most: Int, of kind: String) {
        self.most = most
        tooMany = .unavailable("too many \(kind) are waiting")
    }

    /// Runs `work` when it is the turn of `requester`. Throws `StorageError.unavailable` when too many wait.
    public func run<Value: Sendable>(
        for requester: Requester, _ work: () async throws -> Value
    ) async throws -> Value {
        try await enter(requester.name)
        defer { leave(requester.name) }
        return try await work()
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
            let (mayRun, refused, isOver) = state.withLock { state in
                let (mayRun, refused) = state.add(caller, of: requester, most)
                return (mayRun, refused, state.isOver)
            }
            if mayRun { caller.resume() }
            refused?.resume(throwing: isOver ? Self.closing : tooMany)
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
}

extension String {
    fileprivate var isUser: Bool { hasPrefix(Requester.ofUsers) }
}
