import HTTP
import Logging

extension HTTP1Session {
    /// The next thing to send.
    enum Outgoing {
        case refusal(Status)
        case answer(Response)

        var size: Int {
            switch self {
            case .refusal: 0
            case .answer(let response): response.body.byteCount
            }
        }
    }

    var readsWhileSending: Bool { false }
    var wantsInput: Bool { isReading && outgoingSize == nil && pending.count - pendingRead < 64 * 1024 }
    var hasOutput: Bool { outgoingSize != nil || owesContinue || parts.hasOutput || isConcluding }
    var unsentBytes: Int { (outgoingSize ?? 0) + parts.unsentBytes }
    var incompleteBytes: Int {
        switch state {
        case .body(let reader): pending.count + requestBytes + reader.bytes.count
        case .head, .ready, .working, .streaming, .ended: pending.count
        }
    }
    var bytesAtWork: Int {
        if case .body = state { 0 } else { requestBytes }
    }

    var isIdle: Bool {
        if case .head = state { !hasBegun && pending.isEmpty && outgoingSize == nil } else { false }
    }

    var isWaitingForPeer: Bool {
        switch state {
        // A request that could begin has begun, unless the peer must read first.
        case .head, .body, .ready, .ended: true
        case .working: false
        case .streaming: parts.isFinished || parts.isFull
        }
    }

    var end: SessionEnd? {
        if case .ended(let end) = state { end } else { nil }
    }

    func answer(_ response: Response, to stream: Int32, now: Milliseconds) {
        guard case .working = state else { return }
        setOutgoing(.answer(response))
        guard case .stream = response.body, hasBody(response) else { return }
        state = .streaming
        parts = StreamedParts(isChunked: (current?.minorVersion ?? 1) > 0)
        // An HTTP/1.0 client recognizes the end of a streamed body by the end of the connection.
        if !parts.isChunked { closes = true }
    }

    func send(_ part: [UInt8], on stream: Int32) -> Bool { parts.append(part) }

    func finish(_ stream: Int32, failed: Bool) {
        guard case .streaming = state else { return }
        if failed { state = .ended(.abrupt) } else { parts.finish() }
    }

    func isOpen(_ stream: Int32) -> Bool {
        if case .streaming = state { !parts.isFinished } else { false }
    }

    func nextRoom() -> Int32? { parts.takeRoom() ? 0 : nil }

    func produce(into output: inout [UInt8], now: Milliseconds) {
        // A streamed answer broke off before its head was sent.
        if case .ended(.abrupt) = state { return setOutgoing(nil) }
        if owesContinue {
            owesContinue = false
            output.append(contentsOf: "HTTP/1.1 100 Continue\r\n\r\n".utf8)
        }
        switch outgoing {
        case .refusal(let status): writer(now).writeRefusal(status, into: &output)
        case .answer(let response): produce(response, into: &output, now)
        case nil: break
        }
        setOutgoing(nil)
        parts.produce(into: &output)
        if case .streaming = state, parts.isFinished, !parts.hasOutput { concludeAnswer(now) }
    }

    private func produce(_ response: Response, into output: inout [UInt8], _ now: Milliseconds) {
        closes = closes || service.isDraining || response.headers[.connection] != nil
        let isWhole = writer(now).write(response, into: &output)
        if !isWhole { service.logger.error("a response contained forbidden characters") }
        if case .streaming = state {
            guard !isWhole else { return }
            parts = StreamedParts()
        }
        concludeAnswer(now)
    }

    /// Whether a streamed response is complete and still has to be concluded.
    private var isConcluding: Bool {
        if case .streaming = state { parts.isFinished } else { false }
    }

    private func writer(_ now: Milliseconds) -> ResponseWriter {
        ResponseWriter(
            date: dates.text(now), isHead: isHead, closes: closes || current == nil,
            minorVersion: current?.minorVersion ?? 1, common: service.commonFields)
    }

    private var isHead: Bool { current?.request.method == .head || head.method == .head }

    private func hasBody(_ response: Response) -> Bool { !isHead && response.status.mayHaveBody }

    /// Does nothing: responses check `service.isDraining`, and the connection closes itself when idle.
    func drain(now: Milliseconds) {}

    func abandon(now: Milliseconds) { close() }

    func close() {
        state = .ended(.abrupt)
        pending = []
        setOutgoing(nil)
    }
}

extension Response.Body {
    /// The size of the body in bytes; 0 for a streamed one, whose parts are counted instead.
    var byteCount: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .text(let text): text.utf8.count
        case .stream: 0
        }
    }
}

extension Status {
    /// RFC 9110 §6.4.1.
    var mayHaveBody: Bool { code >= 200 && code != 204 && code != 304 }
}
