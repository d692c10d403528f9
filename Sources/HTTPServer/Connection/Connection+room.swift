import Glibc

/// Connections that are closed for newer ones when as many are open as may be.
extension Connection {
    /// How long a client may leave a connection unused.
    struct Patience {
        /// Time to send the first request, or the next one.
        let asking: Milliseconds
        /// Time to read more of what waits for it: a packet that was lost may take a second.
        let reading: Milliseconds

        static let usual = Patience(asking: 1000, reading: 2000)
        /// For a client with more than an eighth of all connections.
        static let withMany = Patience(asking: 100, reading: 500)
    }

    /// Whether nothing of it is at work: it waits for its peer to send, or to read.
    var isUnused: Bool {
        switch phase {
        case .handshaking, .lingering: return true
        case .open:
            guard let session, session.isWaitingForPeer else { return false }
            return hasBacklog ? !mayWrite : !session.hasOutput
        case .closed: return false
        }
    }

    /// Since when it has been unused, if it is.
    var waitsSince: Milliseconds { hasUnread ? max(lastUse, lastSent) : lastUse }

    private var hasUnread: Bool { hasBacklog || (session?.unsentBytes ?? 0) > 0 }

    /// Whether it has been unused for long enough to be closed for a newer one.
    func canMakeRoom(_ now: Milliseconds) -> Bool { hasWaited(.usual, now) }

    /// Whether it may be closed for another client's, when its own client has more than an eighth of all: it has had
    /// its first request, and time for the next one.
    func canMakeRoomForOthers(_ now: Milliseconds) -> Bool { hasServed && hasWaited(.withMany, now) }

    private func hasWaited(_ patience: Patience, _ now: Milliseconds) -> Bool {
        now - waitsSince >= (hasUnread ? patience.reading : patience.asking) && isUnused
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
