import Glibc
import Synchronization

/// The socket of one connection. libpq waits for it without a limit; another thread can shut it down meanwhile.
final class Line: Sendable {
    private struct State {
        /// Since when the server is waited for, and for how long at most; nil when it is not.
        var wait: (since: ContinuousClock.Instant, longest: Duration)?
        var isCut = false
    }

    /// A duplicate: libpq closes its own descriptor at any time, and the number would soon be another socket's.
    private let descriptor: Int32
    private let state = Mutex(State())

    init(_ socket: Int32) { descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0) }
    deinit { close(descriptor) }

    /// Whether it was shut down here, and not by the server.
    var isCut: Bool { state.withLock(\.isCut) }

    /// Calls `ask`, which ends as if the server had closed the connection when it takes longer than `limit`.
    func wait<Value>(atMost limit: Duration, _ ask: () throws(Failure) -> Value) throws(Failure) -> Value {
        state.withLock { $0.wait = (.now, limit) }
        defer { state.withLock { $0.wait = nil } }
        return try ask()
    }

    /// Ends a wait that has taken too long, or longer than `longest`.
    func cutIfOverdue(at now: ContinuousClock.Instant, longest: Duration?) {
        state.withLock { state in
            guard let wait = state.wait else { return }
            if now - wait.since >= min(wait.longest, longest ?? wait.longest) { cut(&state) }
        }
    }

    /// Ends any wait, now and later.
    func cut() { state.withLock { cut(&$0) } }

    private func cut(_ state: inout State) {
        state.isCut = true
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}

/// The lines of all connections.
final class Lines: Sendable {
    private struct State {
        var open: [ObjectIdentifier: Line] = [:]
        /// The longest that each wait may take, even one that was allowed more.
        var longest: Duration?
        var isOver = false
    }

    private let state = Mutex(State())

    func add(_ socket: Int32) -> Line {
        let line = Line(socket)
        let isOver = state.withLock { state in
            state.open[ObjectIdentifier(line)] = line
            return state.isOver
        }
        if isOver { line.cut() }
        return line
    }

    func remove(_ line: Line) { state.withLock { _ = $0.open.removeValue(forKey: ObjectIdentifier(line)) } }

    /// Ends every wait that has taken too long.
    func cutOverdue() {
        let now = ContinuousClock.now
        let (lines, longest) = state.withLock { (Array($0.open.values), $0.longest) }
        for line in lines { line.cutIfOverdue(at: now, longest: longest) }
    }

    /// Whether `wait(atMost:)` was called.
    var isHurried: Bool { state.withLock { $0.longest != nil } }

    /// Ends every wait that takes longer than `longest`, from now on.
    func wait(atMost longest: Duration) {
        state.withLock { $0.longest = longest }
        cutOverdue()
    }

    /// Ends every wait, and those of connections that are made from now on.
    func cutAll() {
        let lines = state.withLock { state in
            state.isOver = true
            return Array(state.open.values)
        }
        for line in lines { line.cut() }
    }
}
