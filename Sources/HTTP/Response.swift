/// A response. The server adds `Date`, `Content-Length`, the connection's own fields, and the handler's `commonFields`.
public struct Response: Sendable {
    public var status: Status
    public var headers: Fields
    public var body: Body

    public init(status: Status, headers: Fields = [:], body: Body = .empty) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The body. A response to HEAD keeps it here: the server counts it and leaves it out (RFC 9110 §9.3.2).
    public enum Body: Sendable {
        case bytes([UInt8])
        /// UTF-8.
        case text(String)
        /// Parts of unknown total length, for example an export. Indirect, because the size of a stream is only known
        /// at run time, and every copy of a response would look it up.
        indirect case stream(AsyncThrowingStream<[UInt8], any Error>)

        public static let empty = Body.bytes([])
    }
}
