import HTTP
import Logging
import Synchronization

/// What all connections of one server share.
final class Service: Sendable {
    let handler: any RequestHandler
    let limits: ServerLimits
    let logger: Logger
    /// Connections that are open, those on their way to a loop too.
    let open = Atomic<Int>(0)
    /// Requests with the handler, those of connections that are gone too.
    let working = Atomic<Int>(0)
    /// TLS handshakes that are not over.
    let handshaking = Atomic<Int>(0)
    private let draining = Atomic<Bool>(false)
    /// Accepting waits for a connection to end.
    private let waiting = Atomic<Bool>(false)
    private let onRelease = Mutex<(@Sendable () -> Void)?>(nil)
    private let context = Mutex<TLSContext?>(nil)

    init(handler: any RequestHandler, limits: ServerLimits, logger: Logger) {
        self.handler = handler
        self.limits = limits
        self.logger = logger
    }

    var isDraining: Bool { draining.load(ordering: .relaxed) }
    func startDraining() { draining.store(true, ordering: .relaxed) }

    /// For the next connection; nil when connections are plain.
    var tls: TLSContext? {
        get { context.withLock { $0 } }
        set { context.withLock { $0 = newValue } }
    }

    /// A connection has ended.
    func released() {
        open.subtract(1, ordering: .sequentiallyConsistent)
        wakeAcceptor()
    }

    func handshakeEnded() {
        handshaking.subtract(1, ordering: .sequentiallyConsistent)
        wakeAcceptor()
    }

    /// `call` is called once, when a connection or a handshake has ended.
    func whenReleased(_ call: @escaping @Sendable () -> Void) {
        onRelease.withLock { $0 = call }
        waiting.store(true, ordering: .sequentiallyConsistent)
    }

    private func wakeAcceptor() {
        guard waiting.load(ordering: .sequentiallyConsistent),
            waiting.exchange(false, ordering: .sequentiallyConsistent)
        else { return }
        onRelease.withLock { $0 }?()
    }
}
