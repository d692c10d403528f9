import CLinux
import Logging
import Synchronization

/// A listening socket: accepts on one loop, and distributes its connections to all loops in turn.
final class Acceptor {
    let service: Service
    private let listener: Int32
    private let loops: [EventLoop]
    private let home: EventLoop
    private var poll: Poll?
    private var id = Poll.wakeUpID
    private var next = 0
    private var isWatched = false
    private var saidFull = Milliseconds.min
    /// Whether there may be connections in the queue.
    var isReady = false
    /// When to try again after the system ran out of a resource.
    private(set) var deadline = Milliseconds.never

    private static let perTurn = 16
    private static let pause: Milliseconds = 100
    private static let silence: Milliseconds = 60_000

    init(_ listener: Int32, service: Service, loops: [EventLoop], home: EventLoop) {
        self.listener = listener
        self.service = service
        self.loops = loops
        self.home = home
    }

    func register(at index: Int, with poll: Poll) {
        self.poll = poll
        id = ConnectionID(slot: index, generation: ConnectionID.reserved)
        watch()
    }

    func close() {
        unwatch()
        linux_close(listener)
    }

    /// Accepts some of the queue. Existing connections were served earlier in this turn.
    func accept(_ now: Milliseconds) {
        guard isReady, isWatched else { return }
        isReady = false
        for _ in 0..<(service.tls == nil ? Self.perTurn : 1) {
            guard hasRoom(now), acceptOne(now) else { return }
        }
    }

    /// Accepts the whole queue at shutdown, over any limit, so that no connected client is turned away.
    func acceptRest(_ now: Milliseconds) {
        isWatched = true
        while acceptOne(now) {}
    }

    /// Watches the queue again.
    func resume() {
        deadline = .never
        watch()
    }

    /// Accepts one connection. False when no more can be accepted for now.
    private func acceptOne(_ now: Milliseconds) -> Bool {
        var text = [CChar](repeating: 0, count: 64)
        let capacity = text.count
        let descriptor = unsafe text.withUnsafeMutableBufferPointer { text in
            unsafe linux_accept(listener, text.baseAddress, capacity)
        }
        guard descriptor >= 0 else { return survives(-descriptor, now) }
        let peer = String(decoding: text.lazy.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        deal(descriptor, peer: peer.isEmpty ? nil : peer)
        return true
    }

    private func deal(_ descriptor: Int32, peer: String?) {
        service.open.add(1, ordering: .sequentiallyConsistent)
        if service.tls != nil { service.handshaking.add(1, ordering: .sequentiallyConsistent) }
        let loop = loops[next % loops.count]
        next = (next + 1) % loops.count
        guard !loop.isCurrent else { return loop.local.adopt(descriptor, peer: peer, for: service) }
        loop.submit { [service] core in core.adopt(descriptor, peer: peer, for: service) }
    }

    /// Whether one more may be accepted. If not, closes connections that wait for their peers, and waits until one has
    /// ended: a client that keeps thousands open without using them must not shut others out.
    private func hasRoom(_ now: Milliseconds) -> Bool {
        if hasRoom { return true }
        let isFull = !hasFewerThanMayBe
        if isFull, now >= saidFull {
            saidFull = now + Self.silence
            let limit = service.limits.maxConnections
            service.logger.warning(
                "connection limit reached: idle connections are closed for new ones",
                metadata: ["limit": "\(limit)"])
        }
        pause(now, onlyHandshakes: !isFull)
        // A connection may have ended before `whenReleased` was called.
        if hasRoom { watch() }
        return false
    }

    private var hasRoom: Bool {
        hasFewerThanMayBe
            && service.handshaking.load(ordering: .sequentiallyConsistent) < max(64, service.limits.maxConnections / 2)
    }

    private var hasFewerThanMayBe: Bool {
        service.open.load(ordering: .sequentiallyConsistent) < service.limits.maxConnections
    }

    private func resumeOnRelease() {
        service.whenReleased { [home, service] in home.submit { $0.acceptor(of: service)?.resume() } }
    }

    /// Whether accepting can continue: after an error of one connection at once, after an error of the system with a
    /// pause.
    private func survives(_ code: Int32, _ now: Milliseconds) -> Bool {
        switch code {
        case EAGAIN: return false
        case EMFILE, ENFILE, ENOBUFS, ENOMEM:
            if now >= saidFull {
                saidFull = now + Self.silence
                service.logger.error(
                    "no connection can be accepted", metadata: ["error": "\(ServerError.system("accept4", code: code))"]
                )
            }
            pause(now, onlyHandshakes: false)
            return false
        case EBADF, EINVAL, ENOTSOCK: return false
        default: return true
        }
    }

    /// Stops accepting until a connection has ended, and closes idle ones; with `onlyHandshakes`, those in a handshake.
    /// If all are in use, it tries again soon, when some may be idle.
    private func pause(_ now: Milliseconds, onlyHandshakes: Bool) {
        unwatch()
        waitForRelease(now)
        let most = max(1, service.open.load(ordering: .relaxed) / (64 * loops.count))
        for loop in loops {
            loop.submit { [service] core in core.makeRoom(for: service, most: most, onlyHandshakes: onlyHandshakes) }
        }
    }

    private func waitForRelease(_ now: Milliseconds) {
        deadline = now + Self.pause
        home.local.noteDeadline(deadline)
        resumeOnRelease()
    }

    private func watch() {
        guard !isWatched, let poll, !service.isDraining else { return }
        isWatched = poll.addReadable(listener, as: id)
    }

    private func unwatch() {
        guard isWatched else { return }
        poll?.remove(listener)
        isWatched = false
    }
}
