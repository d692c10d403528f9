import Glibc
import Synchronization

/// The socket of one connection. libpq waits at it without end; another thread can shut it down meanwhile.
final class Line: Sendable {
    private struct State {
        /// By when the server must have answered; nil while nobody waits for it.
        var deadline: ContinuousClock.Instant?
        var isCut = false
    }

    /// A duplicate: libpq closes its own descriptor when it pleases, and the number would soon be another socket's.
    private let descriptor: Int32
    private let state = Mutex(State())

    init(_ socket: Int32) { descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0) }
    deinit { close(descriptor) }

    /// Whether it was shut down here, and not by the server.
    var isCut: Bool { state.withLock(\.isCut) }

    /// Calls `ask`, which ends as if the server had closed the connection when it takes longer than `limit`.
    func wait<Value>(atMost limit: Duration, _ ask: () throws(Failure) -> Value) throws(Failure) -> Value {
        state.withLock { $0.deadline = .now + limit }
        defer { state.withLock { $0.deadline = nil } }
        return try ask()
    }

    /// Ends a wait that has taken too long.
    func cutIfOverdue(at now: ContinuousClock.Instant) {
        state.withLock { state in
            if let deadline = state.deadline, deadline <= now { cut(&state) }
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
        for line in state.withLock({ Array($0.open.values) }) { line.cutIfOverdue(at: now) }
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
