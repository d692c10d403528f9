import Glibc

/// Connections that are closed for newer ones when as many are open as may be.
extension Connection {
    /// Time for a new connection to send its first request, and for a client to send the next one.
    static let shortestStay: Milliseconds = 1000
    /// Time for a client with more than an eighth of all connections to send the next request on one.
    static let shortestPause: Milliseconds = 100

    /// Whether nothing of it is at work: it waits for its peer.
    var isUnused: Bool {
        switch phase {
        case .handshaking, .lingering: true
        case .open: session?.isWaitingForPeer == true && !hasBacklog
        case .closed: false
        }
    }

    /// Whether it has been unused for long enough to be closed for a newer one.
    func canMakeRoom(_ now: Milliseconds) -> Bool { now - lastUse >= Self.shortestStay && isUnused }

    /// Whether it may be closed for another client's, when its own client has more than an eighth of all: it has had
    /// its first request, and time for the next one.
    func canMakeRoomForOthers(_ now: Milliseconds) -> Bool {
        hasServed && now - lastUse >= Self.shortestPause && isUnused
    }

    /// Closes it, unless a request has arrived by now.
    func makeRoom(_ now: Milliseconds) {
        guard phase == .open, let session else { return close() }
        mayRead = true
        read(session, now)
        startRequests(session, now)
        guard phase == .open, isUnused else { return enqueue() }
        session.drain(now: now)
        flush(session, now)
        close()
    }

    /// Who its peer is, as far as one client can be told from another: an IPv4 address, or the 64 bits of an IPv6
    /// network.
    var network: UInt64? {
        guard let peer else { return nil }
        var short = in_addr()
        if unsafe inet_pton(AF_INET, peer, &short) == 1 { return UInt64(short.s_addr) }
        var long = in6_addr()
        guard unsafe inet_pton(AF_INET6, peer, &long) == 1 else { return nil }
        return unsafe withUnsafeBytes(of: &long) { unsafe $0.loadUnaligned(as: UInt64.self) }
    }
}
