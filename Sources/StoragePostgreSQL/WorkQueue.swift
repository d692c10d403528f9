import Dispatch
import Storage
import Synchronization

/// Work for the connections' threads, first come, first served.
final class WorkQueue: Sendable {
    typealias Work = @Sendable (Session) -> Void

    /// Beyond this the database is hopelessly behind, and refusing is kinder than queueing.
    private static let limit = 10_000

    private struct State {
        /// Two stacks make a queue: `leaving` is the older half, newest first.
        var arriving: [Work] = []
        var leaving: [Work] = []
        var isClosed = false
        var threads: Int
        var closers: [CheckedContinuation<Void, Never>] = []

        mutating func next() -> Work? {
            if leaving.isEmpty {
                leaving = arriving.reversed()
                arriving.removeAll(keepingCapacity: true)
            }
            return leaving.popLast()
        }
    }

    private let state: Mutex<State>
    /// Counts the waiting work, and after closing one more for each thread.
    private let available = DispatchSemaphore(value: 0)

    init(threads: Int) { state = Mutex(State(threads: threads)) }

    /// Hands `work` to the next free thread.
    func add(_ work: @escaping Work) throws(StorageError) {
        try state.withLock { state throws(StorageError) in
            guard !state.isClosed else { throw .unavailable("the database is closed") }
            guard state.arriving.count + state.leaving.count < Self.limit else {
                throw .unavailable("too much work is waiting for PostgreSQL")
            }
            state.arriving.append(work)
        }
        available.signal()
    }

    /// Waits for work. Nil ends the thread: the queue is closed and empty.
    func next() -> Work? {
        available.wait()
        return state.withLock { $0.next() }
    }

    /// Takes no more work; what is queued is still done.
    func close() {
        let threads = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed ? 0 : state.threads
        }
        for _ in 0..<threads { available.signal() }
    }

    /// A thread says that it is done.
    func threadEnded() {
        let closers = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.threads -= 1
            guard state.threads == 0 else { return [] }
            defer { state.closers = [] }
            return state.closers
        }
        for closer in closers { closer.resume() }
    }

    /// Returns when the last thread is done.
    func ended() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.threads > 0 { state.closers.append(continuation) }
                return state.threads == 0
            }
            if isOver { continuation.resume() }
        }
    }
}
