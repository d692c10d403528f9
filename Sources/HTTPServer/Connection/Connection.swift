import CLinux
import HTTP
import Logging

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
        case .failed:
            let reason = encrypted.failure?.description ?? "connection closed"
            service.logger.debug("TLS handshake failed", metadata: ["reason": "\(reason)", "peer": "\(peer ?? "")"])
            return close()
        case .done(let agreed):
            service.handshakeEnded()
            startSession(session(speaking: agreed, now), now)
            updateDeadline()
            enqueue()
        }
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
