import Synchronization
public import Values

/// An HTTP/1.1 client over libcurl: any number of requests at once, on one thread.
///
/// It follows no redirect, uses no proxy and no cookie, sends no credentials except those in a field, verifies
/// certificates, and connects only to the address it is given. The thread starts with the first request and ends with
/// the client.
public final class HTTPClient: Sendable {
    private let options: HTTPClientOptions
    private let queue = Mutex<TransferQueue?>(nil)

    public init(_ options: HTTPClientOptions) { self.options = options }

    deinit { queue.withLock { $0?.end() } }

    /// Sends `request`. Every status is a response. Throws `TransferError`, or `CancellationError` on cancellation.
    public func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        let queue = try running()
        let ticket = HTTPJob.Ticket()
        let deadline = ContinuousClock.now + request.limits.time
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.start(
                    HTTPJob(ticket: ticket, request: request, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            queue.cancel(ticket)
        }
    }

    private func running() throws(TransferError) -> TransferQueue {
        let found = queue.withLock { queue in
            if queue == nil, let waker = Waker() {
                let fresh = TransferQueue(waker)
                queue = (try? TransferLoop.start(fresh, options)) == nil ? nil : fresh
            }
            return queue
        }
        guard let found else { throw .failed("no descriptor or thread is left") }
        return found
    }
}

/// The settings of a client for all its requests.
public struct HTTPClientOptions: Sendable {
    /// Whether the client may connect to an address; asked when a connection is made.
    public let mayConnect: @Sendable (IPAddress) -> Bool
    /// Whether a connection serves the next request to the same address. `mayConnect` is not asked again then.
    public let keepsConnections: Bool
    /// Further requests wait, within their time limit. Nil means no limit.
    public let mostConnectionsToHost: Int?

    public init(
        keepsConnections: Bool = false, mostConnectionsToHost: Int? = nil,
        mayConnect: @escaping @Sendable (IPAddress) -> Bool
    ) {
        self.keepsConnections = keepsConnections
        self.mostConnectionsToHost = mostConnectionsToHost
        self.mayConnect = mayConnect
    }
}

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

/// One request and its limits.
public struct HTTPClientRequest: Sendable {
    /// Its host appears in `Host`, in TLS and in the check of the certificate.
    public let url: TransferURL
    /// The address to connect to, checked by the caller: libcurl looks up nothing.
    public let address: IPAddress
    /// A token (RFC 9110 §9.1).
    public let method: String
    /// Sent in this order. Only `Host` and `Content-Length` are added.
    public let fields: [(name: String, value: String)]
    /// Sent whole, with its length; ignored for HEAD.
    public let body: [UInt8]
    public let limits: HTTPClientLimits

    public init(
        _ method: String, _ url: TransferURL, at address: IPAddress, fields: [(name: String, value: String)] = [],
        body: [UInt8] = [], limits: HTTPClientLimits
    ) {
        self.method = method
        self.url = url
        self.address = address
        self.fields = fields
        self.body = body
        self.limits = limits
    }

    /// Whether method and fields are free of characters that would end them early (RFC 9110 §5.1, §5.5, §9.1).
    var isAcceptable: Bool {
        Self.isToken(method) && (1...65535).contains(url.port)
            && fields.allSatisfy { name, value in
                Self.isToken(name) && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
            }
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }
}

/// A server's response. Redirects are not followed, and the body is not decoded.
public struct HTTPClientResponse: Sendable {
    public let status: Int
    /// In the order in which they came; trailers are dropped.
    public let fields: [(name: String, value: String)]
    public let body: [UInt8]

    /// The values of every field called `name`, in any case.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}
