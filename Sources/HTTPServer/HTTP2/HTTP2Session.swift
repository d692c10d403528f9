import CNGHTTP2
import HTTP
import Logging

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
        case refuse(Int32, Status)
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
