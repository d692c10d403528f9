import Synchronization

/// Wakes all listeners. Signals that a listener has not seen yet count as one.
final class WakeSignal: Sendable {
    private struct Listeners {
        var next = 0
        var all: [Int: AsyncStream<Void>.Continuation] = [:]
        var isOver = false
    }
    private let listeners = Mutex(Listeners())

    func ring() {
        for listener in listeners.withLock({ Array($0.all.values) }) { listener.yield() }
    }

    /// Ends every listener's stream.
    func end() {
        let all = listeners.withLock { listeners in
            listeners.isOver = true
            return Array(listeners.all.values)
        }
        for listener in all { listener.finish() }
    }

    /// A stream that begins with a signal, so that earlier signals are not missed.
    func rings() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number: Int? = listeners.withLock { listeners in
            guard !listeners.isOver else { return nil }
            listeners.next += 1
            listeners.all[listeners.next] = continuation
            return listeners.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.yield()
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.all.removeValue(forKey: number) }
        }
        return stream
    }
}
