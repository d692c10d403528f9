import CNGHTTP2
import HTTP

/// HTTP/2 on one connection (RFC 9113), through nghttp2.
///
/// nghttp2's callbacks only record (`HTTP2Session+receiving`). `settle` acts on the records when the nghttp2 call has
/// returned. Streams are referred to by id, except the one whose head is arriving.
@safe final class HTTP2Session: ConnectionSession {
    let service: Service
    let dates: DateClock
    let peer: String?
    let limits: HTTP2Limits
    /// Nil after `close`.
    var session: OpaquePointer?
    var end: SessionEnd?
    var now: Milliseconds

    var streams = StreamTable()
    /// The request whose header block is arriving: blocks arrive one at a time (RFC 9113 §4.3).
    var incoming: HTTP2Stream?
    let head: HTTP2Head
    /// The memory for the head of the next response.
    var responseHead = HTTP2ResponseHead()
    /// Complete requests, in the order in which they became complete.
    var ready: [Int32] = []
    /// Handlers at work, including those of streams that are gone.
    var working = 0
    /// Streamed responses whose next part found no room.
    var waiting: [Int32] = []
    /// Bytes of bodies that nghttp2 has not asked for.
    var unsentBodies = 0
    /// Bytes of heads that nghttp2 has not sent, including those of streams that are gone.
    var unsentHeads = 0
    /// Bytes of the heads and bodies of requests that are not complete or have not begun.
    var waitingBytes = 0
    /// Bytes of the heads and bodies of requests with the handler, including those of streams that are gone.
    var bytesAtWork = 0
    /// The part of `waitingBytes`, and of `bytesAtWork`, that is heads.
    var waitingHeads = 0
    var headsAtWork = 0
    /// Streams that were gone before their handler had answered.
    var abandoned: [Int32: HTTP2Stream] = [:]
    /// Responses with a new part, which may need a deadline.
    var extended: [Int32] = []

    /// What callbacks asked for.
    var deferred: [Deferred] = []
    var violation: String?
    /// The memory of the frames that wait in the library.
    private var queuedBytes = 0
    private static let queuedFrame = 160
    private var meter: FrameMeter
    var resets: Allowance
    var mayHaveOutput = true
    /// GOAWAY is sent or about to be, and nothing more is read.
    var isDeaf = false
    /// The peer has ended its side.
    var inputEnded = false
    var drainState = DrainState.none
    var idleSince: Milliseconds
    /// A lower bound: no stream has an earlier deadline.
    var earliest = Milliseconds.never

    /// Work to do when nghttp2 has returned.
    enum Deferred {
        case consume(Int32, bytes: Int)
        case drop(bytes: Int)
        case reset(Int32, UInt32)
        case refuse(Int32, Refusal)
        case sendContinue(Int32)
    }

    enum DrainState: Equatable {
        case none
        /// The peer has been told; new streams are taken until then.
        case noticed(until: Milliseconds)
        case refusing
    }

    init(
        service: Service, dates: DateClock, peer: String?, now: Milliseconds, limits: HTTP2Limits = HTTP2Limits()
    ) {
        self.service = service
        self.dates = dates
        self.peer = peer
        self.limits = limits
        self.now = now
        head = HTTP2Head(limits: service.limits)
        idleSince = now
        meter = FrameMeter(limits: limits, now: now)
        resets = Allowance(burst: limits.resets.burst, perSecond: limits.resets.rate, now: now)
        begin()
    }

    deinit { close() }

    func receive(_ bytes: Span<UInt8>, now: Milliseconds) {
        guard let session = unsafe session, wantsInput else { return }
        self.now = now
        guard meter.receive(bytes, now: now) else { return endOver("frames that bring nothing") }
        mayHaveOutput = true
        let taken = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe nghttp2_session_mem_recv(session, bytes.baseAddress, bytes.count)
        }
        guard taken >= 0 else { return fail(Int32(taken)) }
        // The library queues frames of its own, such as a reset for each stream it refuses, without a limit while the
        // peer does not read.
        let queued = unsafe nghttp2_session_get_outbound_queue_size(session)
        guard queued <= limits.queuedFrames else { return fail(NGHTTP2_ERR_FLOODED.rawValue) }
        queuedBytes = queued * Self.queuedFrame
        settle()
    }

    func produce(into output: inout [UInt8], now: Milliseconds) {
        guard let session = unsafe session, end == nil else {
            mayHaveOutput = false
            return
        }
        self.now = now
        armExtended()
        let bound = output.count + limits.outputBytes
        while output.count < bound {
            var bytes: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(session, &bytes)
            guard count >= 0 else { return fail(Int32(count)) }
            if count > 0 {
                unsafe output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
                meter.send(count)
            } else if deferred.isEmpty, violation == nil {
                mayHaveOutput = false
                (unsentHeads, queuedBytes) = (0, 0)
                return settle()
            } else {
                settle()
            }
        }
    }

    var hasOutput: Bool { mayHaveOutput && end == nil }
    var wantsInput: Bool { end == nil && !isDeaf && !inputEnded }
    /// It must: window updates arrive while responses are sent.
    var readsWhileSending: Bool { true }
    var isIdle: Bool { isUnused && !hasOutput }
    var isWaitingForPeer: Bool {
        working == 0 && (ready.isEmpty || holdsBack)
            && !streams.all.contains { $0.isStreaming && !waiting.contains($0.id) }
    }
    var unsentBytes: Int { unsentBodies + unsentHeads + queuedBytes }
    var incompleteBytes: Int { waitingBytes + head.bytes }
    /// Whether requests wait until the peer has read more of the responses.
    var holdsBack: Bool { unsentBytes > limits.unsentBytes }
    /// Whether no request is open or at work.
    var isUnused: Bool { streams.isEmpty && working == 0 }

    func stream(_ id: Int32) -> HTTP2Stream? { streams[id] }

    func close() {
        guard let session = unsafe session else { return }
        unsafe self.session = nil
        unsafe nghttp2_session_del(session)
        end = end ?? .abrupt
        forget()
    }

    func forget() {
        streams = StreamTable()
        dropHead()
        ready = []
        abandoned = [:]
        (unsentBodies, unsentHeads, queuedBytes) = (0, 0, 0)
        (waitingBytes, bytesAtWork, waitingHeads, headsAtWork) = (0, 0, 0, 0)
    }
}

/// The border to nghttp2's callbacks: each finds its session and records an event.
extension HTTP2Session {
    /// Makes the session. Its settings are the first frame.
    func begin() {
        var (callbacks, options): (OpaquePointer?, OpaquePointer?) = (nil, nil)
        defer {
            unsafe nghttp2_session_callbacks_del(callbacks)
            unsafe nghttp2_option_del(options)
        }
        guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0, unsafe nghttp2_option_new(&options) == 0,
            let callbacks = unsafe callbacks, let options = unsafe options
        else {
            end = .abrupt
            return
        }
        unsafe setCallbacks(callbacks)
        unsafe setOptions(options)
        let user = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard unsafe nghttp2_session_server_new2(&session, callbacks, user, options) == 0 else {
            end = .abrupt
            return
        }
        var settings = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(limits.streams)),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: UInt32(clamping: service.limits.maxHeader)),
            // SETTINGS_NO_RFC7540_PRIORITIES (RFC 9218 §2.1).
            nghttp2_settings_entry(settings_id: 9, value: 1),
        ]
        _ = unsafe nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &settings, settings.count)
    }

    private func setOptions(_ options: OpaquePointer) {
        unsafe nghttp2_option_set_no_auto_window_update(options, 1)
        unsafe nghttp2_option_set_no_closed_streams(options, 1)
        unsafe nghttp2_option_set_max_outbound_ack(options, limits.unreadAcknowledgements)
        unsafe nghttp2_option_set_max_settings(options, 32)
        unsafe nghttp2_option_set_max_continuations(options, 8)
        // We count resets ourselves, including those we send; this limit is a second line of defence.
        unsafe nghttp2_option_set_stream_reset_rate_limit(
            options, UInt64(limits.resets.burst) * 4, UInt64(limits.resets.rate) * 4)
    }

    private func setCallbacks(_ callbacks: OpaquePointer) {
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
            guard let frame = unsafe frame, unsafe frame.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue),
                unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
            else { return 0 }
            let id = unsafe frame.pointee.hd.stream_id
            unsafe HTTP2Session.of(user) { $0.beginRequest(id) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameLength, value, valueLength, _, user in
            guard let id = unsafe frame?.pointee.hd.stream_id else { return 0 }
            let name = unsafe UnsafeBufferPointer(start: name, count: nameLength)
            let value = unsafe UnsafeBufferPointer(start: value, count: valueLength)
            return switch unsafe HTTP2Session.of(user, { unsafe $0.receiveField(of: id, name.span, value.span) }) {
            case .goOn?, nil: 0
            case .resetStream?: NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
            }
        }
        // RFC 9113 §8.2.1: this makes the request malformed; nghttp2 would only drop the field.
        unsafe nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, _, _, _, _, _, _, _ in
            NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, user in
            let part = unsafe UnsafeBufferPointer(start: bytes, count: count)
            unsafe HTTP2Session.of(user) { unsafe $0.receiveData(of: id, part) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let header = unsafe frame?.pointee.hd else { return 0 }
            unsafe HTTP2Session.of(user) { $0.receive(header) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
            guard let frame = unsafe frame else { return 0 }
            let header = unsafe frame.pointee.hd
            // Streams answered before their body has come are no sign of an attack.
            let isReset =
                unsafe header.type == UInt8(NGHTTP2_RST_STREAM.rawValue)
                && frame.pointee.rst_stream.error_code != NGHTTP2_NO_ERROR.rawValue
            unsafe HTTP2Session.of(user) { $0.noteSent(header, isReset: isReset) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, _, user in
            unsafe HTTP2Session.of(user) { $0.closeStream(id) }
            return 0
        }
    }

    /// Runs `body` with the session of a callback. It is alive: nghttp2 calls back only while one of its methods runs.
    @discardableResult static func of<Result>(
        _ user: UnsafeMutableRawPointer?, _ body: (HTTP2Session) -> Result
    ) -> Result? {
        guard let user = unsafe user else { return nil }
        return unsafe Unmanaged<HTTP2Session>.fromOpaque(user)._withUnsafeGuaranteedRef(body)
    }

    private func receive(_ header: nghttp2_frame_hd) {
        let endsStream = UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue: receiveHead(of: header.stream_id, endsStream: endsStream)
        case NGHTTP2_RST_STREAM.rawValue: noteReset()
        case NGHTTP2_DATA.rawValue where endsStream: receiveEnd(of: header.stream_id)
        default: break
        }
    }

    private func noteSent(_ header: nghttp2_frame_hd, isReset: Bool) {
        if isReset { noteReset() }
        let kind = UInt32(header.type)
        guard kind == NGHTTP2_HEADERS.rawValue || kind == NGHTTP2_DATA.rawValue,
            UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
        else { return }
        noteAnswered(header.stream_id)
    }
}

/// Gives nghttp2 the next bytes of a response.
func readResponseBody(
    _ session: OpaquePointer?, _ stream: Int32, _ buffer: UnsafeMutablePointer<UInt8>?, _ size: Int,
    _ flags: UnsafeMutablePointer<UInt32>?, _ source: UnsafeMutablePointer<nghttp2_data_source>?,
    _ user: UnsafeMutableRawPointer?
) -> Int {
    let buffer = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size)
    guard let part = unsafe HTTP2Session.of(user, { unsafe $0.readBody(of: stream, into: buffer) }) ?? nil else {
        return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    }
    if part.isLast { unsafe flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return part.count
}

/// Records what nghttp2's callbacks report. Nothing here calls nghttp2.
extension HTTP2Session {
    /// What a callback returns to nghttp2.
    enum Verdict {
        case goOn
        /// The stream is reset; nghttp2 decodes the rest without calling us.
        case resetStream
    }

    func beginRequest(_ id: Int32) {
        let stream = HTTP2Stream(id: id)
        dropHead()
        incoming = stream
        streams.append(stream)
        setDeadline(of: stream, after: service.times.request)
    }

    func receiveField(of id: Int32, _ name: borrowing Span<UInt8>, _ value: borrowing Span<UInt8>) -> Verdict {
        guard id == incoming?.id else {
            guard let stream = stream(id) else { return .goOn }
            // Trailers are dropped (RFC 9110 §6.5.1), and their number is limited.
            stream.trailers += 1
            return stream.trailers > service.limits.maxFields ? .resetStream : .goOn
        }
        guard head.add(name, value) else {
            dropHead()
            return .resetStream
        }
        return .goOn
    }

    /// Takes the complete header block of `id`.
    func receiveHead(of id: Int32, endsStream: Bool) {
        defer { dropHead() }
        guard let stream = incoming.take(), stream.id == id else { return endsStream ? receiveEnd(of: id) : () }
        stream.hasEnded = endsStream
        do throws(HTTP2Head.Fault) {
            var request = try head.request(peer: peer)
            stream.isHEAD = request.method == .head
            let admission = service.handler.admit(request)
            request.route = admission.route
            receive(request, limit: admission.bodyLimit, on: stream)
        } catch {
            switch error {
            case .malformed: deferred.append(.reset(id, NGHTTP2_PROTOCOL_ERROR.rawValue))
            case .refused(let refusal): deferred.append(.refuse(id, refusal))
            }
        }
    }

    private func receive(_ request: consuming Request, limit: Int, on stream: HTTP2Stream) {
        let size = head.bytes
        let isOver = size + waitingHeads > Self.mostHeads
        if let length = head.contentLength, length > limit {
            holdHead(size, of: stream)
            makeReady(stream, request, body: .fault(.tooLarge(limit: limit)))
        } else if stream.hasEnded {
            // It has not begun, so the client may send it again (RFC 9113 §8.7).
            if isOver, holdsBack { return deferred.append(.reset(stream.id, NGHTTP2_REFUSED_STREAM.rawValue)) }
            holdHead(size, of: stream)
            makeReady(stream, request, body: .bytes([]))
        } else if isOver {
            deferred.append(.refuse(stream.id, .headersTooLarge))
        } else {
            stream.phase = .body(request, limit: limit)
            holdHead(size, of: stream)
            if head.expectsContinue { deferred.append(.sendContinue(stream.id)) }
        }
    }

    /// Consumes bytes of a body as they arrive. Unwanted bytes are dropped: the connection's window opens for them but
    /// the stream's does not, so its client stops.
    func receiveData(of id: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
        guard let stream = stream(id), case .body(let request, let limit) = stream.phase else {
            return drop(bytes.count)
        }
        guard stream.body.count + bytes.count <= limit else {
            makeReady(stream, request, body: .fault(.tooLarge(limit: limit)))
            return drop(bytes.count)
        }
        unsafe stream.body.append(contentsOf: bytes)
        stream.held += bytes.count
        waitingBytes += bytes.count
        deferred.append(.consume(id, bytes: bytes.count))
    }

    func receiveEnd(of id: Int32) {
        guard let stream = stream(id) else { return }
        stream.hasEnded = true
        guard case .body(let request, _) = stream.phase else { return }
        makeReady(stream, request, body: .bytes(stream.body))
    }

    func closeStream(_ id: Int32) {
        guard let stream = streams.remove(id) else { return }
        unsentBodies -= stream.unsent
        if stream.isAtWork { abandoned[id] = stream } else { release(stream) }
        if incoming === stream { dropHead() }
        noteUse()
    }

    /// Counts an RST_STREAM, sent or received: a peer can cause both.
    func noteReset() {
        if !resets.spend(at: now) { violation = "reset streams" }
    }

    /// Notes that a response is sent to its last byte. A client that is still sending is told to stop (RFC 9113 §8.1),
    /// but not at once: curl loses a response that comes with a reset.
    func noteAnswered(_ id: Int32) {
        guard let stream = stream(id) else { return }
        stream.phase = .answered
        stream.deadline = .never
        guard !stream.hasEnded else { return }
        guard streams.all.count(where: \.isAnswered) <= Self.maxLingering else {
            return deferred.append(.reset(id, NGHTTP2_NO_ERROR.rawValue))
        }
        setDeadline(of: stream, after: Self.lingerTime)
    }

    private static var lingerTime: Milliseconds { 1_000 }
    private static var maxLingering: Int { 8 }

    func makeReady(_ stream: HTTP2Stream, _ request: consuming Request, body: Request.Body) {
        request.body = body
        stream.body = []
        stream.phase = .ready(request)
        stream.deadline = .never
        ready.append(stream.id)
    }

    func dropHead() {
        head.empty()
        incoming = nil
    }

    private func drop(_ count: Int) { deferred.append(.drop(bytes: count)) }
}

/// The memory that requests hold until they are answered. A reference to the table of fields takes a byte or two, and
/// stands for up to 4 KiB. So heads have a limit together, and everything is counted (`Connection.countHeld`).
extension HTTP2Session {
    /// The most bytes of heads that wait for their bodies, or for responses to be read; and separately of heads with
    /// handlers.
    static var mostHeads: Int { 512 * 1024 }

    /// Counts a head that has arrived.
    func holdHead(_ size: Int, of stream: HTTP2Stream) {
        stream.headBytes = size
        stream.held += size
        waitingHeads += size
        waitingBytes += size
    }

    /// Whether the handlers of this connection may have one more head: always one, no second in a crowd, and at most
    /// `mostHeads` bytes.
    func mayBegin(_ stream: HTTP2Stream) -> Bool {
        working == 0 || (!service.isCrowded && headsAtWork + stream.headBytes <= Self.mostHeads)
    }

    /// Hands its request to the handler.
    func begin(_ stream: HTTP2Stream) {
        working += 1
        let (head, all) = (stream.headBytes, stream.held)
        release(stream)
        (stream.headBytes, stream.held, stream.isAtWork) = (head, all, true)
        headsAtWork += head
        bytesAtWork += all
    }

    /// Notes that the handler has answered.
    func conclude(_ stream: HTTP2Stream) {
        guard stream.isAtWork else { return }
        headsAtWork -= stream.headBytes
        bytesAtWork -= stream.held
        (stream.headBytes, stream.held, stream.isAtWork) = (0, 0, false)
    }

    /// Notes that its request is gone without an answer, or goes to the handler.
    func release(_ stream: HTTP2Stream) {
        waitingHeads -= stream.headBytes
        waitingBytes -= stream.held
        (stream.headBytes, stream.held) = (0, 0)
    }
}
