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
            service.logger.error("a response contained forbidden characters")
            return submit(Response(status: .internalServerError), on: stream)
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
