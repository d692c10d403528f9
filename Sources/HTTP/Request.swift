/// A received request, complete and valid by its protocol.
public struct Request: Sendable {
    private var head: Head
    public var body: Body
    /// The handler's own number for the request, from `RequestHandler.admit`.
    public var route: Int
    /// Distinguishes the request from the handler's others; 0 until the handler has numbered it.
    public var serial: UInt64 = 0

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

/// A request method (RFC 9110 §9). Case matters.
public struct Method: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let get = Method(rawValue: "GET")
    public static let head = Method(rawValue: "HEAD")
    public static let post = Method(rawValue: "POST")
    public static let put = Method(rawValue: "PUT")
    public static let patch = Method(rawValue: "PATCH")
    public static let delete = Method(rawValue: "DELETE")
    public static let options = Method(rawValue: "OPTIONS")

    public var description: String { rawValue }
}

/// Serves requests: an HTTP server calls it twice for each one.
public protocol RequestHandler: AnyObject, Sendable {
    /// The handler's route for a head, and the largest body it may have. Runs on the event loop and must not block;
    /// `head.body` is empty.
    func admit(_ head: Request) -> Admission

    /// The response. Runs as a task on the connection's loop. A refused or incomplete body is in the request as a
    /// fault, so that the endpoint chooses the form of the error.
    func respond(to request: Request) async -> Response

    /// Fields that the server adds to every response without a field of the same name. They do not change, are well
    /// formed, and are none that the server writes itself.
    var commonFields: Fields { get }
}

/// A handler's decision on the head of a request.
public struct Admission: Sendable {
    /// Copied to `Request.route`.
    public let route: Int
    /// The largest body in bytes.
    public let bodyLimit: Int

    public init(route: Int, bodyLimit: Int) {
        self.route = route
        self.bodyLimit = bodyLimit
    }
}
