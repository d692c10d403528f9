/// The memory that requests hold until they are answered. A reference to the table of fields takes a byte or two, and
/// stands for up to 4 KiB. So heads have a limit together, and everything is counted (`Connection.countHeld`).
extension HTTP2Session {
    /// The most bytes of heads that wait for their bodies, or for responses to be read; and separately of heads with
    /// handlers.
    static var mostHeads: Int { 512 * 1024 }

    /// Counts a head that has arrived.
    func holdHead(_ size: Int, of stream: HTTP2Stream) {
        stream.headBytes = size
        stream.held += size
        waitingHeads += size
        waitingBytes += size
    }

    /// Whether the handlers of this connection may have one more head: always one, no second in a crowd, and at most
    /// `mostHeads` bytes.
    func mayBegin(_ stream: HTTP2Stream) -> Bool {
        working == 0 || (!service.isCrowded && headsAtWork + stream.headBytes <= Self.mostHeads)
    }

    /// Hands its request to the handler.
    func begin(_ stream: HTTP2Stream) {
        working += 1
        let (head, all) = (stream.headBytes, stream.held)
        release(stream)
        (stream.headBytes, stream.held, stream.isAtWork) = (head, all, true)
        headsAtWork += head
        bytesAtWork += all
    }

    /// Notes that the handler has answered.
    func conclude(_ stream: HTTP2Stream) {
        guard stream.isAtWork else { return }
        headsAtWork -= stream.headBytes
        bytesAtWork -= stream.held
        (stream.headBytes, stream.held, stream.isAtWork) = (0, 0, false)
    }

    /// Notes that its request is gone without an answer, or goes to the handler.
    func release(_ stream: HTTP2Stream) {
        waitingHeads -= stream.headBytes
        waitingBytes -= stream.held
        (stream.headBytes, stream.held) = (0, 0)
    }
}
