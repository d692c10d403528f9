import Dispatch
import Synchronization

/// Runs what reads much, in the order of its coming, on a few threads of its own.
final class ScanQueue: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var running = 0
    }

    private let threads: Int
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "spindle.scans", attributes: .concurrent)

    init(threads: Int) { self.threads = threads }

    func add(_ scan: @escaping @Sendable () -> Void) {
        let isNewThread = state.withLock { state in
            state.waiting.append(scan)
            guard state.running < threads else { return false }
            state.running += 1
            return true
        }
        if isNewThread { queue.async { self.run() } }
    }

    private func run() {
        while let scan = next() { scan() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.running -= 1
            return nil
        }
    }
}
