import Synchronization

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
        set {
            let whom = self.whom
            head = Head(method: head.method, target: head.target, headers: newValue, peer: head.peer)
            note { $0 = whom }
        }
    }
    /// The address of the other end of the connection, as text without a port; nil when it has none.
    public var peer: String? { head.peer }

    /// Whom the request concerns, as far as it is known by now. All copies of the request share it.
    public var whom: Whom { head.whom.withLock { $0 } }
    public func note(_ change: (inout Whom) -> Void) { head.whom.withLock { change(&$0) } }

    /// A mail or text message that the request caused and that is not sent, for the log.
    public struct HeldMail: Sendable {
        public let kind: String
        public let reason: String

        public init(kind: String, reason: String) {
            self.kind = kind
            self.reason = reason
        }
    }

    public var heldMail: HeldMail? { head.whom.withLock { $0.heldMail } }

    /// Ids for the log, noted while a request is answered. They are written out for a refusal alone.
    public struct Whom: Sendable {
        public var client: (any Sendable & CustomStringConvertible)?
        public var user: (any Sendable & CustomStringConvertible)?
        public var heldMail: HeldMail?

        public init() {}
    }

    /// One object, because a request is passed on a dozen times, and each copy would retain every text.
    private final class Head: Sendable {
        let method: Method
        let target: Target
        let headers: Fields
        let peer: String?
        let whom = Mutex(Whom())

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

    /// Takes note of a request that the server refuses by itself, because it cannot be read, and returns the fields of
    /// the response. Runs on the event loop and must not block.
    func refuse(_ request: UnreadRequest) -> Fields

    /// Fields that the server adds to every response without a field of the same name. They do not change, are well
    /// formed, and are none that the server writes itself.
    var commonFields: Fields { get }
}

/// A request that the server refuses before its handler could be asked.
public struct UnreadRequest: Sendable {
    /// Nil when the connection is closed without a response.
    public let status: Status?
    /// One word for the log.
    public let reason: String
    /// The rule that the request breaks, for the log.
    public let rule: String
    /// The address of the other end of the connection.
    public let peer: String?

    public init(status: Status?, reason: String, rule: String, peer: String?) {
        self.status = status
        self.reason = reason
        self.rule = rule
        self.peer = peer
    }
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
