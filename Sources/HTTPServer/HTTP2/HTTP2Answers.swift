import CNGHTTP2
import HTTP
import Logging

/// How requests reach the handler and responses come back.
extension HTTP2Session {
    func nextRequest(now: Milliseconds) -> StartedRequest? {
        while end == nil, !holdsBack, working < limits.streams, let id = ready.first {
            guard let stream = stream(id), stream.isReady else {
                ready.removeFirst()
                continue
            }
            guard mayBegin(stream) else { return nil }
            ready.removeFirst()
            guard let request = stream.takeRequest() else { continue }
            begin(stream)
            return StartedRequest(stream: id, request: request)
        }
        return nil
    }

    func answer(_ response: Response, to id: Int32, now: Milliseconds) {
        working -= 1
        self.now = now
        noteUse()
        let stream = stream(id)
        if let begun = stream ?? abandoned.removeValue(forKey: id) { conclude(begun) }
        guard end == nil, let stream, case .working = stream.phase else { return }
        submit(response, on: stream)
    }

    func send(_ part: [UInt8], on id: Int32) -> Bool {
        guard isOpen(id), let stream = stream(id) else {
            waiting.append(id)
            return false
        }
        append(part, to: stream)
        extended.append(id)
        resume(id)
        guard stream.unsent >= limits.streamedBytes else { return true }
        waiting.append(id)
        return false
    }

    func finish(_ id: Int32, failed: Bool) {
        waiting.removeAll { $0 == id }
        guard isOpen(id), let session = unsafe session, let stream = stream(id) else { return }
        guard !failed else { return unsafe reset(id, NGHTTP2_INTERNAL_ERROR.rawValue, in: session) }
        stream.phase = .answering(isComplete: true)
        extended.append(id)
        resume(id)
    }

    func isOpen(_ id: Int32) -> Bool {
        guard end == nil, case .answering(isComplete: false)? = stream(id)?.phase else { return false }
        return true
    }

    func nextRoom() -> Int32? {
        guard !waiting.isEmpty else { return nil }
        let index = waiting.firstIndex { id in
            !isOpen(id) || stream(id).map { $0.unsent < limits.streamedBytes / 2 } ?? true
        }
        return index.map { waiting.remove(at: $0) }
    }

    /// Sends the head, and lets nghttp2 ask for the body (`readBody`).
    func submit(_ response: Response, on stream: HTTP2Stream) {
        guard let session = unsafe session else { return }
        var head = HTTP2ResponseHead()
        swap(&head, &responseHead)
        guard head.fill(response, common: service.commonFields, date: dates.text(now)) else {
            service.logMalformed(response)
            return submit(response.replacement, on: stream)
        }
        let isBodiless = stream.isHEAD || !response.status.mayHaveBody
        var isComplete = true
        switch response.body {
        case _ where isBodiless: break
        case .bytes(let bytes): append(bytes, to: stream)
        case .text(let text): append(Array(text.utf8), to: stream)
        case .stream: isComplete = false
        }
        let hasBody = stream.unsent > 0 || !isComplete
        stream.phase = .answering(isComplete: isComplete)
        setDeadline(of: stream, after: service.times.answer)
        mayHaveOutput = true
        unsentHeads += head.byteCount
        let result = unsafe head.submit(on: stream.id, hasBody: hasBody, in: session)
        head.empty()
        responseHead = consume head
        if result != 0 { unsafe reset(stream.id, NGHTTP2_INTERNAL_ERROR.rawValue, in: session) }
    }

    /// RFC 9110 §15.2.1.
    func submitContinue(on id: Int32) {
        guard let session = unsafe session else { return }
        unsafe HTTP2ResponseHead.submitContinue(on: id, in: session)
    }

    /// Moves the bytes that nghttp2 asks for. Nil when there are none now, or when the stream is being reset.
    func readBody(of id: Int32, into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool)? {
        guard let stream = stream(id), case .answering(let isComplete) = stream.phase else { return nil }
        let count = unsafe stream.take(into: buffer)
        unsentBodies -= count
        // The deadline moves as the peer reads, but not with each byte.
        stream.taken += count
        if stream.taken >= Connection.progress { setDeadline(of: stream, after: service.times.answer) }
        if stream.unsent == 0, isComplete { return (count, true) }
        if count > 0 { return (count, false) }
        stream.deadline = .never
        return nil
    }

    /// Sets a deadline for a part that the peer does not read.
    func armExtended() {
        for id in extended {
            guard let stream = stream(id), case .answering = stream.phase, stream.deadline == .never else { continue }
            setDeadline(of: stream, after: service.times.answer)
        }
        extended.removeAll(keepingCapacity: true)
    }

    func noteUse() {
        if isUnused { idleSince = now }
    }

    private func append(_ part: [UInt8], to stream: HTTP2Stream) {
        stream.append(part)
        unsentBodies += part.count
    }

    private func resume(_ id: Int32) {
        guard let session = unsafe session else { return }
        mayHaveOutput = true
        // nghttp2 refuses this when it is not waiting, which is harmless.
        _ = unsafe nghttp2_session_resume_data(session, id)
    }
}

/// How a connection, or one of its streams, ends.
extension HTTP2Session {
    /// Does what the callbacks of the last call asked for, and checks whether the connection is over.
    func settle() {
        guard let session = unsafe session, end == nil else { return }
        while !deferred.isEmpty {
            let work = deferred
            deferred.removeAll()
            mayHaveOutput = true
            for item in work { unsafe settle(item, in: session) }
        }
        if let violation {
            self.violation = nil
            return endOver(violation)
        }
        if inputEnded, isUnused { terminate(NGHTTP2_NO_ERROR) }
        guard unsafe nghttp2_session_want_read(session) == 0 else { return }
        isDeaf = true
        if unsafe nghttp2_session_want_write(session) == 0 { end = end ?? .lingering }
    }

    private func settle(_ item: Deferred, in session: OpaquePointer) {
        switch item {
        case .consume(let id, let bytes): _ = unsafe nghttp2_session_consume(session, id, bytes)
        case .drop(let bytes): _ = unsafe nghttp2_session_consume_connection(session, bytes)
        case .reset(let id, let code): unsafe reset(id, code, in: session)
        case .refuse(let id, let refusal):
            guard let stream = stream(id) else { return }
            submit(service.response(to: refusal, peer: peer), on: stream)
        case .sendContinue(let id):
            guard let stream = stream(id), case .body = stream.phase, stream.body.isEmpty else { return }
            submitContinue(on: id)
        }
    }

    /// Sends RST_STREAM, unless the stream has already ended.
    func reset(_ id: Int32, _ code: UInt32, in session: OpaquePointer) {
        guard let stream = stream(id) else { return }
        if code == NGHTTP2_NO_ERROR.rawValue, stream.hasEnded { return }
        unsentBodies -= stream.unsent
        stream.dropOutput()
        if !stream.isAtWork { release(stream) }
        stream.phase = .answered
        stream.deadline = .never
        mayHaveOutput = true
        _ = unsafe nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, code)
    }

    /// Sends GOAWAY, and nothing after it.
    func terminate(_ code: nghttp2_error_code) {
        guard let session = unsafe session, end == nil, !isDeaf else { return }
        isDeaf = true
        mayHaveOutput = true
        _ = unsafe nghttp2_session_terminate_session(session, code.rawValue)
    }

    /// Ends a connection whose peer has exceeded a limit.
    func endOver(_ limit: String) {
        let peer = peer ?? "unknown"
        service.logger.info("HTTP/2 connection ended", metadata: ["limit": "\(limit)", "address": "\(peer)"])
        terminate(NGHTTP2_ENHANCE_YOUR_CALM)
    }

    func abandon(now: Milliseconds) {
        guard end == nil else { return }
        self.now = now
        terminate(NGHTTP2_ENHANCE_YOUR_CALM)
        forget()
    }

    /// Ends a connection that nghttp2 gave up on, for example because nghttp2 itself detected a flood.
    func fail(_ code: Int32) {
        end = .abrupt
        mayHaveOutput = false
        let reason = unsafe String(cString: nghttp2_strerror(code))
        let peer = peer ?? "unknown"
        service.logger.info("HTTP/2 connection ended", metadata: ["reason": "\(reason)", "address": "\(peer)"])
    }

    func receiveEnd(now: Milliseconds) {
        guard let session = unsafe session, end == nil else { return }
        self.now = now
        inputEnded = true
        for stream in streams.all {
            switch stream.phase {
            case .head, .body: unsafe reset(stream.id, NGHTTP2_CANCEL.rawValue, in: session)
            default: break
            }
        }
        settle()
    }

    /// RFC 9113 §6.8: sends a notice first, which refuses no stream on its way. At the second call, or a second later,
    /// it names the last stream accepted.
    func drain(now: Milliseconds) {
        guard let session = unsafe session, end == nil, !isDeaf else { return }
        self.now = now
        mayHaveOutput = true
        switch drainState {
        case .none:
            drainState = .noticed(until: now + Self.noticeTime)
            _ = unsafe nghttp2_submit_shutdown_notice(session)
        case .noticed:
            drainState = .refusing
            let last = unsafe nghttp2_session_get_last_proc_stream_id(session)
            _ = unsafe nghttp2_submit_goaway(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, NGHTTP2_NO_ERROR.rawValue, nil, 0)
        case .refusing: break
        }
    }

    private static var noticeTime: Milliseconds { 1_000 }

    var deadline: Milliseconds {
        guard end == nil else { return .never }
        let request = isUnused ? idleSince + service.times.idle : earliest
        guard case .noticed(let until) = drainState else { return request }
        return min(request, until)
    }

    func expire(now: Milliseconds) {
        guard let session = unsafe session, end == nil else { return }
        self.now = now
        if case .noticed(let until) = drainState, until <= now { drain(now: now) }
        guard !isUnused else {
            if deadline <= now { terminate(NGHTTP2_NO_ERROR) }
            return
        }
        earliest = .never
        for stream in streams.all {
            if stream.deadline <= now { unsafe expire(stream, in: session) }
            earliest = min(earliest, stream.deadline)
        }
    }

    private func expire(_ stream: HTTP2Stream, in session: OpaquePointer) {
        stream.deadline = .never
        switch stream.phase {
        // Only the rest of a header block may follow its start (RFC 9113 §4.3).
        case .head: terminate(NGHTTP2_NO_ERROR)
        case .body(let request, _): makeReady(stream, request, body: .fault(.cutOff))
        case .answering: unsafe reset(stream.id, NGHTTP2_CANCEL.rawValue, in: session)
        case .answered: unsafe reset(stream.id, NGHTTP2_NO_ERROR.rawValue, in: session)
        case .ready, .working: break
        }
    }

    func setDeadline(of stream: HTTP2Stream, after time: Milliseconds) {
        stream.deadline = now + time
        stream.taken = 0
        earliest = min(earliest, stream.deadline)
    }
}
