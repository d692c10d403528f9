/// A received request, complete and valid by its protocol.
public struct Request: Sendable {
    private var head: Head
    public var body: Body
    /// The handler's own number for the request, from `RequestHandler.admit`.
    public var route: Int

    public init(
        method: Method, target: Target, headers: Fields = [:], body: Body = .bytes([]), peer: String? = nil,
        route: Int = 0
    ) {
        head = Head(method: method, target: target, headers: headers, peer: peer)
        self.body = body
        self.route = route
    }

    public var method: Method { head.method }
    /// The path and query as they were sent, even of an absolute target.
    public var target: Target { head.target }
    public var headers: Fields {
        get { head.headers }
        set { head = Head(method: head.method, target: head.target, headers: newValue, peer: head.peer) }
    }
    /// The address of the other end of the connection, as text without a port; nil when it has none.
    public var peer: String? { head.peer }

    /// One object, because a request is passed on a dozen times, and each copy would retain every text.
    private final class Head: Sendable {
        let method: Method
        let target: Target
        let headers: Fields
        let peer: String?

        init(method: Method, target: Target, headers: Fields, peer: String?) {
            self.method = method
            self.target = target
            self.headers = headers
            self.peer = peer
        }
    }

    /// The body, or why it is not complete.
    public enum Body: Sendable {
        case bytes([UInt8])
        case fault(Fault)
    }

    /// Why a body was not read. The connection is closed after the response (HTTP/2: the stream is reset).
    public enum Fault: Error, Sendable, Equatable {
        /// More than `limit` bytes were announced or sent.
        case tooLarge(limit: Int)
        /// It ended before its announced length, its chunks are malformed, or it took too long.
        case cutOff
    }
}

/// The path and the query of a request's target (RFC 9112 §3.2.1), as sent: nothing is decoded.
public struct Target: Sendable, Hashable, CustomStringConvertible {
    public let text: String
    public let path: String
    /// The part after the first question mark.
    public let query: String?

    public init(_ text: String) {
        let bytes = text.utf8.span
        self.init(text, queryMark: bytes.indices.first { bytes[$0] == UInt8(ascii: "?") })
    }

    /// `queryMark` is where the first question mark is, in UTF-8.
    package init(_ text: String, queryMark: Int?) {
        self.text = text
        guard let queryMark else {
            path = text
            query = nil
            return
        }
        let mark = text.utf8.index(text.startIndex, offsetBy: queryMark)
        path = String(text[..<mark])
        query = String(text[text.utf8.index(after: mark)...])
    }

    public var description: String { text }
}
