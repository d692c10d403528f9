import CCurl
import Text
import Values

/// One running request, on the thread of its loop.
final class HTTPExchange {
    private let request: HTTPClientRequest
    private let options: HTTPClientOptions
    private let time: Duration
    let handle: EasyHandle
    private var head = ResponseHead()
    private var headCount = 0
    private var body: [UInt8] = []
    /// The socket of its connection, if it made one.
    private var socket: Int32 = -1
    /// The error that a callback found; libcurl itself only reports that a callback stopped the transfer.
    private var finding: TransferError?

    /// Prepares `request`; `rest` is what is left of its time.
    init(_ request: HTTPClientRequest, _ options: HTTPClientOptions, rest: Duration) throws {
        guard request.isAcceptable else { throw TransferError.unacceptable }
        self.request = request
        self.options = options
        time = rest
        let url = request.url
        handle = try EasyHandle(
            Route(scheme: url.isEncrypted ? "https" : "http", addresses: [request.address], port: url.port))
        try unsafe handle.configure { easy in url.withHandle { unsafe $0.put(on: easy) } }
        try handle.set(CURLOPT_PATH_AS_IS, 1)
        try handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        try handle.set(CURLOPT_TIMEOUT_MS, rest)
        try handle.set(CURLOPT_CONNECTTIMEOUT_MS, request.limits.connecting)
        if !options.keepsConnections {
            try handle.set(CURLOPT_FORBID_REUSE, 1)
            try handle.set(CURLOPT_SSL_SESSIONID_CACHE, 0)
        }
        try setMethod()
        try setFields()
        try setCallbacks()
    }

    deinit { handle.close() }

    private func setMethod() throws {
        let hasBody = !request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method)
        if request.method == "HEAD" {
            try handle.set(CURLOPT_NOBODY, 1)
        } else {
            // A body over its limit ends the transfer: at once if its length is announced.
            try handle.set(CURLOPT_MAXFILESIZE, max(1, request.limits.body))
        }
        if hasBody, request.method != "HEAD" {
            try handle.set(CURLOPT_POST, 1)
            try unsafe handle.configure { easy in
                unsafe request.body.withUnsafeBytes { unsafe spindle_curl_set_body(easy, $0.baseAddress, $0.count) }
            }
        }
        try handle.set(CURLOPT_CUSTOMREQUEST, request.method)
    }

    private func setFields() throws {
        // Without a value libcurl drops the field, and its own field of that name; a semicolon means an empty value.
        var lines = request.fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        let given = Set(request.fields.map { $0.name.lowercased() })
        for name in ["accept", "content-type", "expect", "user-agent"] where !given.contains(name) {
            lines.append("\(name):")
        }
        try handle.set(CURLOPT_HTTPHEADER, list: lines)
    }

    private func setCallbacks() throws {
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        try unsafe handle.configure { easy in
            unsafe spindle_curl_set_head_writer(
                easy,
                { bytes, size, count, this in
                    unsafe HTTPExchange.at(this)?.takeHead(UnsafeRawBufferPointer(start: bytes, count: size * count))
                        ?? 0
                }, this)
        }
        try unsafe handle.configure { easy in
            unsafe spindle_curl_set_body_writer(
                easy,
                { bytes, size, count, this in
                    unsafe HTTPExchange.at(this)?.takeBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
                        ?? 0
                }, this)
        }
        try unsafe handle.configure { easy in
            unsafe spindle_curl_set_opener(
                easy,
                { this, _, address in
                    let socket = unsafe openSocket(for: address) {
                        unsafe HTTPExchange.at(this)?.mayConnect(to: $0) ?? false
                    }
                    unsafe HTTPExchange.at(this)?.socket = socket
                    return socket
                }, this)
        }
        try handle.set(CURLOPT_NOPROGRESS, 0)
        try unsafe handle.configure { easy in
            unsafe spindle_curl_set_progress(
                easy, { this, _, _, _, _ in unsafe HTTPExchange.at(this)?.goesOn() == false ? 1 : 0 }, this)
        }
    }

    private static func at(_ pointer: UnsafeMutableRawPointer?) -> HTTPExchange? {
        unsafe pointer.map { unsafe Unmanaged<HTTPExchange>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Takes all or nothing: any result other than the count ends the transfer.
    private func takeHead(_ line: UnsafeRawBufferPointer) -> Int {
        headCount += line.count
        guard headCount <= request.limits.head else {
            finding = .headTooLong
            return -1
        }
        unsafe head.add(line)
        return line.count
    }

    private func takeBody(_ piece: UnsafeRawBufferPointer) -> Int {
        guard body.count + piece.count <= request.limits.body else {
            finding = .bodyTooLong
            return -1
        }
        unsafe body.append(contentsOf: piece)
        return piece.count
    }

    /// Whether the bytes received are within the limits including all framing, which libcurl does not count: a chunk
    /// extension (RFC 9112 §7.1.1) could go on for as long as the request may take. Called after every few reads.
    private func goesOn() -> Bool {
        let most = 2 * (request.limits.head + request.limits.body) + Self.handshake
        guard socket >= 0, spindle_socket_received(socket) > most else { return true }
        finding = .bodyTooLong
        return false
    }

    /// Bytes that a TLS handshake may take, with a long certificate chain.
    private static let handshake = 256 * 1024

    private func mayConnect(to address: IPAddress) -> Bool {
        let mayConnect = address == request.address && options.mayConnect(address)
        if !mayConnect { finding = .refusedAddress }
        return mayConnect
    }

    /// The result, from libcurl's code.
    func outcome(_ code: CURLcode) -> Result<HTTPClientResponse, any Error> {
        guard code != CURLE_OK else {
            return .success(HTTPClientResponse(status: handle.answer, fields: head.fields, body: body))
        }
        return .failure(finding ?? failure(code))
    }

    private func failure(_ code: CURLcode) -> TransferError {
        switch code {
        case CURLE_FILESIZE_EXCEEDED: .bodyTooLong
        case CURLE_PEER_FAILED_VERIFICATION: .untrusted
        // Before there is a connection, the shorter of the two limits applies.
        case CURLE_OPERATION_TIMEDOUT:
            handle.isConnected || time <= request.limits.connecting ? .timedOut : .connectTimedOut
        default: .failed(CurlFailure.text(of: code))
        }
    }
}

/// The fields of a response, line by line as libcurl passes them.
struct ResponseHead {
    private(set) var fields: [(name: String, value: String)] = []
    private var isOpen = false

    /// Takes a line with its end. The next status line discards an interim response (RFC 9110 §15.2). Lines after the
    /// empty line are trailers and dropped.
    mutating func add(_ line: some Collection<UInt8>) {
        let text = String(decoding: line, as: UTF8.self)
        // Drops a line with too many combining marks, which an attacker could use to make comparing it slow.
        guard text.isStreamSafe else { return }
        if !isOpen, text.hasPrefix("HTTP/") {
            isOpen = true
            fields = []
            return
        }
        guard isOpen else { return }
        guard text != "\r\n", text != "\n" else {
            isOpen = false
            return
        }
        guard let colon = text.firstIndex(of: ":") else { return }
        let name = String(text[..<colon])
        guard !name.isEmpty, !name.contains(where: \.isWhitespace) else { return }
        fields.append((name, String(text[text.index(after: colon)...].trimming(while: \.isWhitespace))))
    }
}

/// Where a transfer connects to, whatever the host in its URL is.
///
/// libcurl keeps the addresses of names for all transfers of a thread. So the name given to it here is made of the
/// addresses themselves: an entry left by any transfer leads to the same addresses.
struct Route {
    let scheme: String
    let addresses: [IPAddress]
    let port: Int

    /// For CURLOPT_CONNECT_TO: every host and port of the URL become this name.
    var connection: String { "::\(name):\(port)" }

    /// For CURLOPT_RESOLVE; the plus lets the entry expire.
    var resolution: String {
        let list = addresses.map { address in
            let text = address.description
            return text.contains(":") ? "[\(text)]" : text
        }
        return "+\(name):\(port):\(list.joined(separator: ","))"
    }

    /// A reserved domain (RFC 2606 §2). It begins with a letter, so it cannot be an address.
    private var name: String {
        // libcurl allows 255 bytes here. The first address is enough: only a transfer alone on its thread has several.
        let first = addresses.first.map { $0.description.replacing(":", with: "-") } ?? ""
        return "a\(addresses.count)-\(first).invalid"
    }
}
