import Synchronization

/// The way to the server, which all threads share. While it stays shut, one of them knocks again each second, and all
/// others are told at once instead of waiting for a server that is gone.
final class ConnectGate: Sendable {
    private struct State {
        var connections = 0
        /// Why nobody was let in the last time; nil when somebody was.
        var refusal: Failure?
        var knockAgainAt = ContinuousClock.now
        var isKnocking = false

        var isShut: Bool { refusal != nil && (isKnocking || ContinuousClock.now < knockAgainAt) }
    }

    private static let pause: Duration = .seconds(1)
    private let state = Mutex(State())

    /// Connects by `connect`, unless that has just failed or is being tried.
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

    /// A connection was given up.
    func leave() { state.withLock { $0.connections -= 1 } }

    /// Whether somebody without a connection had better leave the work to those who have one.
    var isForOthers: Bool { state.withLock { $0.isShut && $0.connections > 0 } }
}
