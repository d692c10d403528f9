import CLinux
import Logging

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
            "connection ended: \(reason)", metadata: ["bytes": "\(heldBytes)", "peer": "\(peer ?? "")"])
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
