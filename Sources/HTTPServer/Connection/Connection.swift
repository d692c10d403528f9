import CLinux
import HTTP
import Logging
import Synchronization

/// One accepted socket, from its first byte to its last. It belongs to one loop.
final class Connection {
    enum Phase { case handshaking, open, lingering, closed }

    let id: ConnectionID
    let service: Service
    let core: LoopCore
    let loop: EventLoop
    let descriptor: Int32
    let peer: String?
    var transport: Transport
    var session: (any ConnectionSession)?
    var phase: Phase
    /// When the loop must call `expire`.
    private(set) var deadline = Milliseconds.never

    /// When it was accepted, or its last request came or was answered.
    var lastUse: Milliseconds
    /// When its peer last read more than a few bytes.
    var lastSent = Milliseconds.min
    var sentUnnoted = 0
    /// Whether a request of it has begun.
    var hasServed = false

    /// Bytes to send; the first `sent` of them are sent.
    var output: [UInt8] = []
    var sent = 0
    /// Bytes sent since the deadline for reading was last moved.
    var sentInTime = 0
    /// When the peer must have read more of the response.
    var unreadDeadline = Milliseconds.never
    /// Deadline of the handshake, or of the time after the last response.
    var phaseDeadline = Milliseconds.never
    /// How many more bytes are read and dropped after the last response.
    var lingerBudget = 32 * 1024 * 1024

    /// The socket's last known state; cleared when it would block.
    var mayRead = true
    var mayWrite = true
    /// The peer has ended its side, so a short read need not be the last one.
    var peerEnded = false
    var inputEnded = false
    private var isQueued = false
    private var drainDeadline = Milliseconds.never
    /// What the loop was last told.
    private(set) var heldBytes = 0
    private var roomWaiters: [Int32: CheckedContinuation<Void, Never>] = [:]

    /// Nil when TLS cannot begin.
    init?(_ descriptor: Int32, peer: String?, service: Service, core: LoopCore, loop: EventLoop) {
        self.descriptor = descriptor
        self.peer = peer
        self.service = service
        self.core = core
        self.loop = loop
        if let context = service.tls {
            guard let encrypted = try? context.connection(on: descriptor) else { return nil }
            transport = .tls(encrypted)
            phase = .handshaking
        } else {
            transport = .plain(descriptor)
            phase = .open
        }
        lastUse = core.now
        id = core.newID()
        core.insert(self)
    }

    func begin(_ now: Milliseconds) {
        if phase == .handshaking {
            phaseDeadline = now + service.times.request
        } else {
            startSession(session(speaking: .http1, now), now)
        }
        updateDeadline()
    }

    func startSession(_ session: any ConnectionSession, _ now: Milliseconds) {
        self.session = session
        phase = .open
        phaseDeadline = .never
        if service.isDraining { drain(now) }
    }

    /// Handles a change of the socket's state.
    func signal(_ events: UInt32) {
        // Reset, or both sides have ended: a response could not arrive.
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { return close() }
        if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 { mayRead = true }
        if events & EPOLLRDHUP.rawValue != 0 { peerEnded = true }
        if events & EPOLLOUT.rawValue != 0 { mayWrite = true }
        enqueue()
    }

    /// Makes the loop call `advance` once.
    func enqueue() {
        guard !isQueued, phase != .closed else { return }
        isQueued = true
        if phase == .handshaking { core.enqueueHandshake(id) } else { core.enqueue(id) }
    }

    /// Does everything possible now: reads, starts requests, sends.
    func advance(_ now: Milliseconds) {
        isQueued = false
        defer { countHeld() }
        if phase == .lingering { return dropInput() }
        guard phase == .open, let session else { return }
        read(session, now)
        startRequests(session, now)
        flush(session, now)
        guard phase == .open else { return updateDeadline() }
        startRequests(session, now)
        wakeWriters(session)
        if hasBacklog ? mayWrite : session.hasOutput { enqueue() }
        if mayRead, mayReceive(session) { enqueue() }
        updateDeadline()
    }

    func advanceHandshake(_ now: Milliseconds) {
        isQueued = false
        guard phase == .handshaking, case .tls(let encrypted) = transport else { return }
        switch encrypted.handshake() {
        case .again: return
        case .failed where encrypted.failure?.isPlainRequest == true: refuseUnencrypted(now)
        case .failed:
            let reason = encrypted.failure?.description ?? "connection closed"
            service.logger.debug("TLS handshake failed", metadata: ["reason": "\(reason)", "address": "\(peer ?? "")"])
            return close()
        case .done(let agreed):
            service.handshakeEnded()
            startSession(session(speaking: agreed, now), now)
            updateDeadline()
            enqueue()
        }
    }

    /// Answers a request of http on a port that speaks https: without TLS, or its sender could not read it.
    private func refuseUnencrypted(_ now: Milliseconds) {
        service.handshakeEnded()
        transport.close()
        transport = .plain(descriptor)
        let session = HTTP1Session(service: service, dates: core.dates, peer: peer, now: now)
        session.refuseUnencrypted()
        startSession(session, now)
        updateDeadline()
        enqueue()
    }

    private func session(speaking agreed: TLSProtocol, _ now: Milliseconds) -> any ConnectionSession {
        switch agreed {
        case .http1: HTTP1Session(service: service, dates: core.dates, peer: peer, now: now)
        case .http2: HTTP2Session(service: service, dates: core.dates, peer: peer, now: now)
        }
    }

    /// Handles a deadline that has passed.
    func expire(_ now: Milliseconds) {
        guard phase == .open, let session, now < unreadDeadline else { return close() }
        if now >= drainDeadline, session.isIdle, !hasBacklog { return closeUnlessAsked(session, now) }
        if now >= session.deadline { session.expire(now: now) }
        advance(now)
    }

    /// Finishes running requests and accepts no more.
    func drain(_ now: Milliseconds) {
        guard phase == .open, let session else {
            if phase == .handshaking { phaseDeadline = min(phaseDeadline, now + DrainTimes.handshake) }
            return updateDeadline()
        }
        session.drain(now: now)
        drainDeadline = now + DrainTimes.silence
        enqueue()
        updateDeadline()
    }

    /// During a drain, answers a request that is on the socket by now: it was sent in time.
    private func closeUnlessAsked(_ session: any ConnectionSession, _ now: Milliseconds) {
        mayRead = true
        read(session, now)
        guard session.isIdle, phase == .open else { return advance(now) }
        session.drain(now: now)
        drainDeadline = now + DrainTimes.silence
        guard session.readsWhileSending else { return close() }
        flush(session, now)
        updateDeadline()
    }

    func updateDeadline() {
        guard phase != .closed else { return }
        deadline = min(phaseDeadline, unreadDeadline)
        if phase == .open, let session {
            deadline = min(deadline, session.deadline)
            if session.isIdle { deadline = min(deadline, drainDeadline) }
        }
        core.noteDeadline(deadline)
    }

    /// Frees everything at once.
    func close() {
        guard phase != .closed else { return }
        if phase == .handshaking { service.handshakeEnded() }
        phase = .closed
        core.remove(self)
        core.poll.remove(descriptor)
        session?.close()
        session = nil
        transport.close()
        linux_close(descriptor)
        core.giveBack(output)
        (output, sent) = ([], 0)
        countHeld()
        let waiting = roomWaiters
        roomWaiters = [:]
        for (_, waiter) in waiting { waiter.resume() }
        service.released()
    }

    /// Tells the loop how many bytes are held for the client: responses until it has read them, requests until they are
    /// answered.
    func countHeld() {
        var held = output.count - sent
        if let session { held += session.unsentBytes + session.incompleteBytes + session.bytesAtWork }
        core.heldBytes += held - heldBytes
        heldBytes = held
    }

    /// Makes a streamed body wait until its stream has room.
    func waitForRoom(on stream: Int32, _ waiter: CheckedContinuation<Void, Never>) {
        guard phase == .open, roomWaiters[stream] == nil else { return waiter.resume() }
        roomWaiters[stream] = waiter
    }

    private func wakeWriters(_ session: any ConnectionSession) {
        guard !roomWaiters.isEmpty else { return }
        while let stream = session.nextRoom() { roomWaiters.removeValue(forKey: stream)?.resume() }
    }
}

extension Connection {
    /// The most bytes that one connection sends before the others get their turn.
    private static var flushBudget: Int { 256 * 1024 }
    /// A peer that has read this many bytes of a response is still reading it.
    static var progress: Int { 64 * 1024 }
    /// A peer that has read this many bytes does not count as unused when the server makes room.
    private static var sign: Int { 4096 }
    private var lingerTime: Milliseconds { service.isDraining ? 1000 : 5000 }

    var hasBacklog: Bool { sent < output.count }

    func mayReceive(_ session: any ConnectionSession) -> Bool {
        !inputEnded && session.wantsInput && (session.readsWhileSending || !hasBacklog)
    }

    /// Reads once; the rest waits for the next turn.
    func read(_ session: any ConnectionSession, _ now: Milliseconds) {
        guard mayRead, mayReceive(session) else { return }
        switch unsafe core.scratch.withUnsafeMutableBytes({ unsafe transport.read(into: $0) }) {
        case .bytes(let count):
            if transport.shortReadEmpties, count < core.scratch.count, !peerEnded { mayRead = false }
            let scratch = core.scratch
            session.receive(scratch.span.extracting(0..<count), now: now)
        case .again: mayRead = false
        case .ended:
            inputEnded = true
            session.receiveEnd(now: now)
        case .failed: close()
        }
    }

    /// Sends what is pending in as few writes as possible.
    func flush(_ session: any ConnectionSession, _ now: Milliseconds) {
        var budget = Self.flushBudget
        while phase == .open, budget > 0 {
            if !hasBacklog {
                guard session.hasOutput else { break }
                refill(session, now)
                guard hasBacklog else { break }
            }
            guard mayWrite else { break }
            switch write() {
            case .bytes(let count):
                noteSent(count, now)
                sent += count
                sentInTime += count
                budget -= count
            case .again: mayWrite = false
            case .failed: return close()
            }
        }
        guard phase == .open else { return }
        if !hasBacklog { releaseOutput() }
        watchReading(now)
        endIfSaid(session, now)
    }

    /// A peer that reads byte by byte counts as not reading: it only occupies its place.
    private func noteSent(_ count: Int, _ now: Milliseconds) {
        sentUnnoted += count
        guard sentUnnoted >= Self.sign else { return }
        lastSent = now
        sentUnnoted = 0
    }

    private func refill(_ session: any ConnectionSession, _ now: Milliseconds) {
        sent = 0
        if output.capacity == 0 { output = core.takeBuffer() } else { output.removeAll(keepingCapacity: true) }
        session.produce(into: &output, now: now)
    }

    private func write() -> TransportWrite {
        unsafe output.withUnsafeBytes { unsafe transport.write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
    }

    private func releaseOutput() {
        guard output.capacity > 0 else { return }
        core.giveBack(output)
        output = []
        sent = 0
    }

    /// The deadline of a response moves as the peer reads, but not with each byte.
    private func watchReading(_ now: Milliseconds) {
        guard hasBacklog else {
            unreadDeadline = .never
            sentInTime = 0
            return
        }
        guard unreadDeadline == .never || sentInTime >= Self.progress else { return }
        unreadDeadline = now + service.times.answer
        sentInTime = 0
    }

    private func endIfSaid(_ session: any ConnectionSession, _ now: Milliseconds) {
        switch session.end {
        case nil: return
        case .abrupt: close()
        case .lingering: if !hasBacklog, !session.hasOutput { linger(now) }
        }
    }

    /// Ends our side and keeps reading for a while: closing with unread bytes would reset the connection, and the peer
    /// might lose the response (RFC 9112 §9.6).
    func linger(_ now: Milliseconds) {
        transport.shutdown()
        guard !inputEnded else { return close() }
        linux_end_sending(descriptor)
        phase = .lingering
        session?.close()
        session = nil
        unreadDeadline = .never
        phaseDeadline = now + lingerTime
        mayRead = true
        updateDeadline()
        enqueue()
    }

    /// Drops the responses and requests of a peer that makes the loop hold too many bytes, and tells it if it accepts
    /// that.
    func abandon(_ now: Milliseconds) {
        guard phase == .open, let session else { return close() }
        let reason =
            switch heldBytes / 2 {
            case ..<session.incompleteBytes: "its requests do not end"
            case ..<session.bytesAtWork: "its requests at work are too large together"
            default: "its answers are not read"
            }
        service.logger.info(
            "connection ended: \(reason)", metadata: ["bytes": "\(heldBytes)", "address": "\(peer ?? "")"])
        session.abandon(now: now)
        flush(session, now)
        if phase == .open { close() }
        countHeld()
    }

    func dropInput() {
        guard mayRead else { return }
        for _ in 0..<8 {
            let outcome = unsafe core.scratch.withUnsafeMutableBytes {
                unsafe Transport.plain(descriptor).read(into: $0)
            }
            guard case .bytes(let count) = outcome, lingerBudget > count else {
                guard outcome == .again else { return close() }
                mayRead = false
                return
            }
            lingerBudget -= count
        }
        enqueue()
    }
}

extension Connection {
    /// Begins each complete request.
    func startRequests(_ session: any ConnectionSession, _ now: Milliseconds) {
        guard phase == .open, session.readsWhileSending || !hasBacklog else { return }
        while let started = session.nextRequest(now: now) {
            service.working.add(1, ordering: .relaxed)
            lastUse = now
            hasServed = true
            core.requests.append(RequestTask(started, of: id, service: service))
        }
    }

    func answer(_ response: Response, to stream: Int32) {
        guard phase == .open, let session else { return }
        lastUse = core.now
        session.answer(response, to: stream, now: core.now)
        enqueue()
    }
}

/// How long a server that shuts down waits.
enum DrainTimes {
    /// A connection without a request for this time is closed: one may have been on its way when the drain began.
    static let silence: Milliseconds = 500
    /// How long a running handshake may still take.
    static let handshake: Milliseconds = 2_000
}
