/// A response. The server adds `Date`, `Content-Length`, the connection's own fields, and the handler's `commonFields`.
public struct Response: Sendable {
    public var status: Status
    public var headers: Fields
    public var body: Body
    /// Why the request is refused, for the log alone; nil in other responses.
    public var cause: (any Error)?

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

/// A status code and its phrase on an HTTP/1.1 line (RFC 9110 §15). Only the code is compared.
public struct Status: Hashable, Sendable, CustomStringConvertible {
    public let code: Int
    public let reasonPhrase: String

    public init(code: Int, reasonPhrase: String) {
        self.code = code
        self.reasonPhrase = reasonPhrase
    }

    public static func == (a: Status, b: Status) -> Bool { a.code == b.code }
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
    public var description: String { "\(code) \(reasonPhrase)" }

    public static let ok = Status(code: 200, reasonPhrase: "OK")
    public static let created = Status(code: 201, reasonPhrase: "Created")
    public static let accepted = Status(code: 202, reasonPhrase: "Accepted")
    public static let noContent = Status(code: 204, reasonPhrase: "No Content")
    public static let found = Status(code: 302, reasonPhrase: "Found")
    public static let seeOther = Status(code: 303, reasonPhrase: "See Other")
    public static let notModified = Status(code: 304, reasonPhrase: "Not Modified")
    public static let badRequest = Status(code: 400, reasonPhrase: "Bad Request")
    public static let unauthorized = Status(code: 401, reasonPhrase: "Unauthorized")
    public static let forbidden = Status(code: 403, reasonPhrase: "Forbidden")
    public static let notFound = Status(code: 404, reasonPhrase: "Not Found")
    public static let methodNotAllowed = Status(code: 405, reasonPhrase: "Method Not Allowed")
    public static let requestTimeout = Status(code: 408, reasonPhrase: "Request Timeout")
    public static let conflict = Status(code: 409, reasonPhrase: "Conflict")
    public static let gone = Status(code: 410, reasonPhrase: "Gone")
    public static let preconditionFailed = Status(code: 412, reasonPhrase: "Precondition Failed")
    public static let contentTooLarge = Status(code: 413, reasonPhrase: "Payload Too Large")
    public static let uriTooLong = Status(code: 414, reasonPhrase: "URI Too Long")
    public static let unsupportedMediaType = Status(code: 415, reasonPhrase: "Unsupported Media Type")
    public static let expectationFailed = Status(code: 417, reasonPhrase: "Expectation Failed")
    public static let misdirectedRequest = Status(code: 421, reasonPhrase: "Misdirected Request")
    public static let unprocessableContent = Status(code: 422, reasonPhrase: "Unprocessable Content")
    public static let tooManyRequests = Status(code: 429, reasonPhrase: "Too Many Requests")
    public static let requestHeaderFieldsTooLarge = Status(code: 431, reasonPhrase: "Request Header Fields Too Large")
    public static let internalServerError = Status(code: 500, reasonPhrase: "Internal Server Error")
    public static let notImplemented = Status(code: 501, reasonPhrase: "Not Implemented")
    public static let badGateway = Status(code: 502, reasonPhrase: "Bad Gateway")
    public static let serviceUnavailable = Status(code: 503, reasonPhrase: "Service Unavailable")
    public static let httpVersionNotSupported = Status(code: 505, reasonPhrase: "HTTP Version Not Supported")
}
