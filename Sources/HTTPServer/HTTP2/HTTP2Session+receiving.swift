import CNGHTTP2
import HTTP

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
            case .refused(let status): deferred.append(.refuse(id, status))
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
            deferred.append(.refuse(stream.id, .requestHeaderFieldsTooLarge))
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
