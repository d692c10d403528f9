import Synchronization

/// Limits connection attempts of all threads. While the server is down, one thread tries again each second, and all
/// others fail at once.
final class ConnectGate: Sendable {
    private struct State {
        var connections = 0
        /// Why the last attempt failed; nil if it succeeded.
        var refusal: Failure?
        var knockAgainAt = ContinuousClock.now
        var isKnocking = false

        var isShut: Bool { refusal != nil && (isKnocking || ContinuousClock.now < knockAgainAt) }
    }

    private static let pause: Duration = .seconds(1)
    private let state = Mutex(State())

    /// Calls `connect`, unless it failed in the last second or another thread is trying.
    func enter(_ connect: () throws(Failure) -> Connection) throws(Failure) -> Connection {
        try state.withLock { state throws(Failure) in
            guard let refusal = state.refusal else { return }
            guard !state.isShut else { throw refusal }
            state.isKnocking = true
        }
        do {
            let connection = try connect()
            state.withLock { state in
                state.connections += 1
                state.refusal = nil
                state.isKnocking = false
            }
            return connection
        } catch {
            state.withLock { state in
                state.refusal = error
                state.knockAgainAt = .now + Self.pause
                state.isKnocking = false
            }
            throw error
        }
    }

    /// Counts a connection that was abandoned.
    func leave() { state.withLock { $0.connections -= 1 } }

    /// Notes that the server stopped answering: one thread checks whether it is back, and the others do not wait for
    /// that.
    func shut() {
        state.withLock { state in
            state.refusal = Failure(remedy: .none, error: Failure.silent.error)
            state.knockAgainAt = .now
        }
    }

    /// Whether a thread without a connection should leave the work to threads that have one.
    var isForOthers: Bool { state.withLock { $0.isShut && $0.connections > 0 } }
}
