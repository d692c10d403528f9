/// An answer. `Date`, `Content-Length` and what belongs to the connection are added by the server.
public struct Response: Sendable {
    public var status: Status
    public var headers: Fields
    public var body: Body

    public init(status: Status, headers: Fields = [:], body: Body = .empty) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// What is sent. An answer to HEAD keeps its body here: the server counts it and leaves it out (RFC 9110 §9.3.2).
    public enum Body: Sendable {
        case bytes([UInt8])
        /// UTF-8.
        case text(String)
        /// Parts of a length that is not known beforehand: an export.
        case stream(AsyncThrowingStream<[UInt8], any Error>)

        public static let empty = Body.bytes([])
    }
}
