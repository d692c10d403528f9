/// The limits of a request and its response.
public struct HTTPClientLimits: Sendable {
    /// For the whole request, from the call to the last byte of the response.
    public let time: Duration
    /// For the connection, including TLS.
    public let connecting: Duration
    /// Bytes of the response's body.
    public let body: Int
    /// Bytes of the response's status lines, fields and trailers together.
    public let head: Int

    public init(time: Duration, connecting: Duration, body: Int, head: Int = 64 * 1024) {
        self.time = time
        self.connecting = connecting
        self.body = body
        self.head = head
    }
}
