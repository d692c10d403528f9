/// What a request may take, and what its answer.
public struct HTTPClientLimits: Sendable {
    /// For the whole, from the call to the last byte of the answer.
    public let time: Duration
    /// For the connection, TLS included.
    public let connecting: Duration
    /// Bytes of the answer's body.
    public let body: Int
    /// Bytes of the answer's status lines, fields and trailers together.
    public let head: Int

    public init(time: Duration, connecting: Duration, body: Int, head: Int = 64 * 1024) {
        self.time = time
        self.connecting = connecting
        self.body = body
        self.head = head
    }
}
