import Synchronization

/// Lets few scans run at once, so that many that are asked for together neither take all connections nor all memory.
final class ScanGate: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(most: Int) { state = Mutex(State(free: most)) }

    /// Waits for its turn. Each return is answered by one `leave`.
    func enter() async {
        await withCheckedContinuation { caller in
            let mayEnter = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(caller)
                    return false
                }
                state.free -= 1
                return true
            }
            if mayEnter { caller.resume() }
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
