import Synchronization

/// Wakes everybody who listens. Rings that nobody has heard yet are one.
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

    /// Ends what everybody listens to.
    func end() {
        let all = listeners.withLock { listeners in
            listeners.isOver = true
            return Array(listeners.all.values)
        }
        for listener in all { listener.finish() }
    }

    /// Begins with a ring: whatever was meant before it is heard now.
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
