import HTTP

/// HTTP/1.1 on one connection: requests one after the other, at most one at work (RFC 9112).
final class HTTP1Session: ConnectionSession {
    enum State {
        /// Between two requests, or within a head.
        case head
        case body(BodyReader)
        /// The request is complete, and not yet with the handler.
        case ready
        case working
        /// A streamed response is being sent.
        case streaming
        case ended(SessionEnd)
    }

    let service: Service
    let dates: DateClock
    let peer: String?
    var state = State.head
    var head: HeadReader
    /// The request that is being read or handled, with what its head says.
    var current: RequestHead?
    /// The size of its head, and of its body once that is whole.
    private(set) var requestBytes = 0
    /// Bytes received; the first `pendingRead` of them are read.
    var pending: [UInt8] = []
    var pendingRead = 0
    var hasBegun = false
    var inputEnded = false
    /// Whether the connection is closed after the response.
    var closes = false
    /// Fields for every response that has none of the same name.
    var common: Fields
    var owesContinue = false
    private(set) var outgoing: Response?
    /// The bytes in the body of the outgoing response; nil when there is none. Stored, because it is needed several
    /// times per request, and reading it from the response would copy the response.
    private(set) var outgoingSize: Int?
    var parts = StreamedParts()
    private(set) var deadline: Milliseconds

    init(service: Service, dates: DateClock, peer: String?, now: Milliseconds) {
        self.service = service
        self.dates = dates
        self.peer = peer
        head = HeadReader(limits: service.limits)
        common = service.commonFields
        // A new connection must send its first request in time.
        deadline = now + min(service.times.request, service.times.idle)
    }

    func receive(_ bytes: Span<UInt8>, now: Milliseconds) {
        if pending.isEmpty {
            let used = consume(bytes, now)
            if isReading || isBusy { pending.append(contentsOf: bytes.extracting(used...)) }
        } else {
            pending.append(contentsOf: bytes)
            consumePending(now)
        }
    }

    func receiveEnd(now: Milliseconds) {
        inputEnded = true
        switch state {
        case .head:
            guard hasBegun else { return state = .ended(.lingering) }
            refuse(.badRequest("cut off in the header"))
        case .body: bodyFault(.cutOff)
        case .ready, .working, .streaming, .ended: return
        }
    }

    func nextRequest(now: Milliseconds) -> StartedRequest? {
        if case .head = state, !pending.isEmpty, outgoingSize == nil { consumePending(now) }
        guard case .ready = state, let current else { return nil }
        state = .working
        deadline = .never
        return StartedRequest(stream: 0, request: current.request)
    }

    private func consumePending(_ now: Milliseconds) {
        var bytes: [UInt8] = []
        swap(&bytes, &pending)
        pendingRead += consume(bytes.span.extracting(pendingRead...), now)
        guard isReading || isBusy, pendingRead < bytes.count else { return pendingRead = 0 }
        swap(&bytes, &pending)
        // The head reader counts from the first byte of a request, so bytes before it may be removed.
        guard pendingRead > 16 * 1024 else { return }
        pending.removeFirst(pendingRead)
        pendingRead = 0
    }

    /// Reads no further than one request. Returns how many bytes were read.
    private func consume(_ bytes: borrowing Span<UInt8>, _ now: Milliseconds) -> Int {
        var used = 0
        if case .head = state {
            guard bytes.count > 0 else { return 0 }
            if !hasBegun {
                hasBegun = true
                deadline = now + service.times.request
            }
            switch head.read(bytes, peer: peer) {
            case .more: return 0
            case .refused(let refusal): refuse(refusal)
            case .head(let head, let count):
                used = count
                requestBytes = count
                admit(head, hasMore: count < bytes.count)
            }
        }
        guard case .body(var reader) = state else { return used }
        state = .ready
        switch reader.read(bytes.extracting(used...), used: &used) {
        case .more: state = .body(reader)
        case .done:
            requestBytes += reader.bytes.count
            current?.request.body = .bytes(reader.bytes)
        case .fault(let fault): bodyFault(fault)
        }
        return used
    }

    /// Asks the handler for the route and its limit. A body announced as too large is not read.
    private func admit(_ received: RequestHead, hasMore: Bool) {
        var head = received
        let admission = service.handler.admit(head.request)
        head.request.route = admission.route
        current = head
        closes = closes || !head.persists
        if case .length(let length) = head.framing, length > admission.bodyLimit {
            return bodyFault(.tooLarge(limit: admission.bodyLimit))
        }
        guard let reader = BodyReader(head.framing, limit: admission.bodyLimit) else { return state = .ready }
        owesContinue = head.expectsContinue && !hasMore
        state = .body(reader)
    }

    func bodyFault(_ fault: Request.Fault) {
        current?.request.body = .fault(fault)
        closes = true
        owesContinue = false
        state = .ready
    }

    /// Answers a malformed request, and ends.
    func refuse(_ refusal: Refusal) {
        let response = service.response(to: refusal, peer: peer)
        guard refusal.isAnswered else { return close() }
        closes = true
        setOutgoing(response)
        pending = []
        state = .ended(.lingering)
        deadline = .never
    }

    /// Answers a request that came without TLS where TLS is needed, and ends. The policy to use https only may not be
    /// told there (RFC 6797 §7.2), so none of the common fields is.
    func refuseUnencrypted() {
        common = [:]
        refuse(.notEncrypted)
    }

    func setOutgoing(_ next: Response?) {
        outgoing = next
        outgoingSize = next?.body.byteCount
    }

    /// Ends a response: waits for the next request, or closes the connection.
    func concludeAnswer(_ now: Milliseconds) {
        current = nil
        requestBytes = 0
        hasBegun = false
        guard !closes, !(inputEnded && pending.isEmpty) else {
            pending = []
            state = .ended(.lingering)
            deadline = .never
            return
        }
        state = .head
        deadline = now + service.times.idle
    }

    func expire(now: Milliseconds) {
        switch state {
        case .head where !hasBegun: state = .ended(.abrupt)
        case .head: refuse(.timedOut)
        case .body: bodyFault(.cutOff)
        case .ready, .working, .streaming, .ended: deadline = .never
        }
    }

    var isReading: Bool {
        switch state {
        case .head, .body: true
        case .ready, .working, .streaming, .ended: false
        }
    }

    private var isBusy: Bool {
        switch state {
        case .ready, .working, .streaming: true
        case .head, .body, .ended: false
        }
    }
}

extension HTTP1Session {
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
        setOutgoing(response)
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
        if let outgoing { produce(outgoing, into: &output, now) }
        setOutgoing(nil)
        parts.produce(into: &output)
        if case .streaming = state, parts.isFinished, !parts.hasOutput { concludeAnswer(now) }
    }

    private func produce(_ response: Response, into output: inout [UInt8], _ now: Milliseconds) {
        closes = closes || service.isDraining || response.headers[.connection] != nil
        let isWhole = writer(now).write(response, into: &output)
        if !isWhole { service.logMalformed(response) }
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
            minorVersion: current?.minorVersion ?? 1, common: common)
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

/// The parts of a streamed body that wait to be sent (RFC 9112 §7.1).
struct StreamedParts {
    let isChunked: Bool
    private var waiting: [UInt8] = []
    private(set) var isFinished = false
    private var owesEnd = false
    private(set) var isFull = false

    private static let room = 64 * 1024

    init(isChunked: Bool = true) { self.isChunked = isChunked }

    var unsentBytes: Int { waiting.count }
    var hasOutput: Bool { !waiting.isEmpty || owesEnd }

    /// Adds a part. False when the next one must wait.
    mutating func append(_ part: [UInt8]) -> Bool {
        guard !part.isEmpty else { return true }
        if isChunked { waiting.append(contentsOf: (String(part.count, radix: 16) + "\r\n").utf8) }
        waiting.append(contentsOf: part)
        if isChunked { waiting.append(contentsOf: [.carriageReturn, .lineFeed]) }
        isFull = waiting.count >= Self.room
        return !isFull
    }

    mutating func finish() {
        isFinished = true
        owesEnd = isChunked
    }

    mutating func produce(into output: inout [UInt8]) {
        output.append(contentsOf: waiting)
        waiting.removeAll()
        guard owesEnd else { return }
        output.append(contentsOf: "0\r\n\r\n".utf8)
        owesEnd = false
    }

    /// Whether it was full before and is not any more.
    mutating func takeRoom() -> Bool {
        guard isFull, waiting.isEmpty else { return false }
        isFull = false
        return true
    }
}
