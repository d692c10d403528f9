/// Connections that are closed for newer ones when as many are open as may be.
extension Connection {
    /// Time for a new connection to send its first request, and for a client to send the next one.
    static let shortestStay: Milliseconds = 1000

    /// Whether it may be closed for a newer one: it waits for its peer, and has done so for a while.
    func canMakeRoom(_ now: Milliseconds) -> Bool {
        guard now - lastUse >= Self.shortestStay else { return false }
        return switch phase {
        case .handshaking, .lingering: true
        case .open: session?.isWaitingForPeer == true && !hasBacklog
        case .closed: false
        }
    }

    /// Closes it, unless a request has arrived by now.
    func makeRoom(_ now: Milliseconds) {
        guard phase == .open, let session else { return close() }
        mayRead = true
        read(session, now)
        startRequests(session, now)
        guard phase == .open, canMakeRoom(now) else { return enqueue() }
        session.drain(now: now)
        flush(session, now)
        close()
    }
}
