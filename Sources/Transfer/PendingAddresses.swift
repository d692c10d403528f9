import Synchronization
import Values

/// A result that comes once: from the resolver, the clock or cancellation, whichever is first.
final class PendingAddresses: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<[IPAddress], any Error>)
        case given(Result<[IPAddress], any Error>)
        case taken
    }
    private let state = Mutex(State.open)

    /// Whether its result is set, so that a later one changes nothing.
    var isGiven: Bool {
        state.withLock { state in
            switch state {
            case .open, .awaited: false
            case .given, .taken: true
            }
        }
    }

    var value: [IPAddress] {
        get async throws {
            try await withCheckedThrowingContinuation { continuation in
                let given: Result<[IPAddress], any Error>? = state.withLock { state in
                    guard case .given(let result) = state else {
                        state = .awaited(continuation)
                        return nil
                    }
                    state = .taken
                    return result
                }
                if let given { continuation.resume(with: given) }
            }
        }
    }

    func resume(with result: Result<[IPAddress], any Error>) {
        let continuation: CheckedContinuation<[IPAddress], any Error>? = state.withLock { state in
            switch state {
            case .open:
                state = .given(result)
                return nil
            case .awaited(let continuation):
                state = .taken
                return continuation
            case .given, .taken:
                return nil
            }
        }
        continuation?.resume(with: result)
    }
}
