import HTTP
import Logging
import Synchronization

/// What all connections of one server share.
final class Service: Sendable {
    let handler: any RequestHandler
    let commonFields: Fields
    let limits: ServerLimits
    let times: ServerTimes
    let logger: Logger
    /// Open connections, including those on their way to a loop.
    let open = Atomic<Int>(0)
    /// Requests with the handler, including those of connections that are gone.
    let working = Atomic<Int>(0)
    /// Whether so many requests are being handled that a connection begins another only while it has none. Requests of
    /// connections with a hundred streams each then wait in the connections, not in the queue before the database.
    var isCrowded: Bool { working.load(ordering: .relaxed) >= 512 }
    /// TLS handshakes in progress.
    let handshaking = Atomic<Int>(0)
    private let draining = Atomic<Bool>(false)
    /// The acceptor waits for a connection to end.
    private let waiting = Atomic<Bool>(false)
    private let onRelease = Mutex<(@Sendable () -> Void)?>(nil)
    private let context = Mutex<TLSContext?>(nil)

    init(handler: any RequestHandler, limits: ServerLimits, logger: Logger) {
        self.handler = handler
        commonFields = handler.commonFields
        precondition(
            ResponseRule.areValues(of: commonFields)
                && commonFields.allSatisfy { !ResponseWriter.ours.contains($0.name) },
            "a common field is malformed, or set by the server itself")
        self.limits = limits
        times = ServerTimes(limits)
        self.logger = logger
    }

    /// The response to a request that its handler never sees. The handler takes note of it.
    func response(to refusal: Refusal, peer: String?) -> Response {
        let fields = handler.refuse(
            UnreadRequest(
                status: refusal.isAnswered ? refusal.status : nil, reason: refusal.reason, rule: refusal.rule,
                peer: peer))
        guard !refusal.text.isEmpty else { return Response(status: refusal.status, headers: fields) }
        var response = Response(status: refusal.status, headers: fields, body: .text(refusal.text))
        response.headers[.contentType] = "text/plain; charset=utf-8"
        return response
    }

    /// Reports a response that could not be sent as it is.
    func logMalformed(_ response: Response) {
        logger.error(
            "a response contained forbidden characters",
            metadata: ["request_id": "\(response.replacement.headers[.xRequestID] ?? "-")"])
    }

    var isDraining: Bool { draining.load(ordering: .relaxed) }
    func startDraining() { draining.store(true, ordering: .relaxed) }

    /// The certificate for the next connection; nil when connections are plain.
    var tls: TLSContext? {
        get { context.withLock { $0 } }
        set { context.withLock { $0 = newValue } }
    }

    /// Counts a connection that has ended.
    func released() {
        open.subtract(1, ordering: .sequentiallyConsistent)
        wakeAcceptor()
    }

    func handshakeEnded() {
        handshaking.subtract(1, ordering: .sequentiallyConsistent)
        wakeAcceptor()
    }

    /// Calls `call` once, when a connection or a handshake has ended.
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
