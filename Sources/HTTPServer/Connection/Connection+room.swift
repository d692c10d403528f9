import Glibc

/// Closes connections for newer ones when the limit is reached.
extension Connection {
    /// How long a client may leave a connection unused.
    struct Patience {
        /// Time to send the first or the next request.
        let asking: Milliseconds
        /// Time to read more of a response: a lost packet may take a second.
        let reading: Milliseconds

        static let usual = Patience(asking: 1000, reading: 2000)
        /// For a client that has many of all connections (`Crowd`).
        static let withMany = Patience(asking: 100, reading: 500)
    }

    /// Whether it is idle: it waits for its peer to send, or to read.
    var isUnused: Bool {
        switch phase {
        case .handshaking, .lingering: return true
        case .open:
            guard let session, session.isWaitingForPeer else { return false }
            return hasBacklog ? !mayWrite : !session.hasOutput
        case .closed: return false
        }
    }

    /// Since when it has been idle, if it is.
    var waitsSince: Milliseconds { hasUnread ? max(lastUse, lastSent) : lastUse }

    private var hasUnread: Bool { hasBacklog || (session?.unsentBytes ?? 0) > 0 }

    /// Whether it has been idle for long enough to be closed for a newer one.
    func canMakeRoom(_ now: Milliseconds) -> Bool { hasWaited(.usual, now) }

    /// Whether it may be closed for another client's, when its own client has many (`Crowd`): it has had a request, and
    /// time for the next one.
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

    /// The network of its peer, by which clients are told apart.
    var network: Network? { peer.flatMap(Network.init) }
}

/// The network that a client connects from.
struct Network: Hashable {
    /// An IPv4 address, or the 64 bits of an IPv6 network.
    let subscriber: UInt64
    /// The 48 bits of an IPv6 site, which has 65,536 such networks (RFC 6177 §2).
    let site: UInt64?

    init?(_ address: String) {
        var short = in_addr()
        if unsafe inet_pton(AF_INET, address, &short) == 1 {
            (subscriber, site) = (UInt64(short.s_addr), nil)
            return
        }
        var long = in6_addr()
        guard unsafe inet_pton(AF_INET6, address, &long) == 1 else { return nil }
        let (first, second) = unsafe withUnsafeBytes(of: &long) { bytes in
            unsafe (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        // RFC 6052 §2.1: the IPv4 clients behind NAT64 are not one.
        guard first != 0x0064_ff9b << 32 || second >> 32 != 0 else {
            (subscriber, site) = (UInt64(UInt32(truncatingIfNeeded: second).byteSwapped), nil)
            return
        }
        (subscriber, site) = (first, first >> 16)
    }
}

/// The networks with more than an eighth of all connections, and the sites with more than half.
struct Crowd {
    private var subscribers: [UInt64: Int] = [:]
    private var sites: [UInt64: Int] = [:]
    private let many: Int

    init(of networks: [Network?]) {
        many = max(networks.count / 8, 4)
        for network in networks {
            guard let network else { continue }
            subscribers[network.subscriber, default: 0] += 1
            if let site = network.site { sites[site, default: 0] += 1 }
        }
    }

    func contains(_ network: Network) -> Bool {
        subscribers[network.subscriber, default: 0] > many
            || network.site.map { sites[$0, default: 0] > many * 4 } == true
    }
}
