import CCurl
import Synchronization
import Values

/// One blocking connection to a mail server: made, used and dropped on one thread.
final class SMTPConversation {
    /// Lets another thread end a blocked conversation.
    final class Cancellation: Sendable {
        let isWanted = Atomic(false)
    }

    /// What libcurl's callbacks read; it lives until QUIT is sent.
    @safe private final class Context {
        let cancellation: Cancellation
        let addresses: [IPAddress]
        /// What is left of the message to send.
        var rest: ArraySlice<UInt8> = []
        /// The server has accepted the envelope and DATA, so its next reply is about the message itself.
        var isAsked = false
        /// The beginning of the server's last refusal, kept because libcurl then sends QUIT, which is answered too.
        var refusal: [UInt8] = []
        /// The buffer for libcurl's error text.
        let words: UnsafeMutableBufferPointer<CChar>

        init(_ cancellation: Cancellation, _ addresses: [IPAddress]) {
            self.cancellation = cancellation
            self.addresses = addresses
            unsafe words = .allocate(capacity: Int(CURL_ERROR_SIZE))
            unsafe words.initialize(repeating: 0)
        }

        deinit { unsafe words.deallocate() }

        /// Whether the server has refused the sender: by its reply to MAIL, or by the code for a bad sender in its
        /// reply to RCPT, where many servers check the sender (RFC 3463 §3.2).
        var hasRefusedSender: Bool {
            guard unsafe !words.starts(with: "MAIL failed".utf8.map { CChar(bitPattern: $0) }) else { return true }
            return ["5.1.7", "5.1.8"].contains { refusal.dropFirst(4).starts(with: $0.utf8) }
        }

        static func at(_ pointer: UnsafeMutableRawPointer?) -> Context? {
            unsafe pointer.map { unsafe Unmanaged<Context>.fromOpaque($0).takeUnretainedValue() }
        }

        var isCancelled: Bool { cancellation.isWanted.load(ordering: .relaxed) }

        func fill(_ room: UnsafeMutableRawBufferPointer) -> Int {
            isAsked = true
            let piece = rest.prefix(room.count)
            rest = rest.dropFirst(piece.count)
            unsafe room.copyBytes(from: piece)
            return piece.count
        }
    }

    private let handle: EasyHandle
    private let context: Context

    init(
        _ destination: SMTPDestination, at addresses: [IPAddress], time: Duration, connecting: Duration,
        _ cancellation: Cancellation
    ) throws {
        guard destination.isAcceptable else { throw SMTPFailure.other("a control character in its settings") }
        context = Context(cancellation, addresses)
        do throws(CurlFailure) {
            handle = try EasyHandle(
                Route(scheme: destination.scheme, addresses: addresses, port: destination.port))
            try configure(destination, time: time, connecting: connecting)
        } catch {
            throw SMTPFailure(error.code, answer: 0)
        }
    }

    /// Sends QUIT (RFC 5321 §4.1.1.10), but does not wait minutes for the reply.
    deinit {
        handle.stopReading()
        handle.close()
    }

    private func configure(_ destination: SMTPDestination, time: Duration, connecting: Duration) throws(CurlFailure) {
        let host = destination.host.contains(":") ? "[\(destination.host)]" : destination.host
        try handle.set(CURLOPT_URL, "\(destination.scheme)://\(host):\(destination.port)/\(destination.name)")
        try handle.set(CURLOPT_TIMEOUT_MS, time)
        try handle.set(CURLOPT_CONNECTTIMEOUT_MS, connecting)
        let use = destination.security == .startTLS ? CURLUSESSL_ALL : CURLUSESSL_NONE
        try handle.set(CURLOPT_USE_SSL, Int(use.rawValue))
        if let authorities = destination.authorities {
            try unsafe handle.configure { easy in unsafe spindle_curl_believe(easy, authorities) }
        }
        if let credentials = destination.credentials {
            try handle.set(CURLOPT_USERNAME, credentials.user)
            try handle.set(CURLOPT_PASSWORD, credentials.password.value)
        }
        try unsafe handle.configure { easy in unsafe spindle_curl_set_words(easy, context.words.baseAddress) }
        // libcurl asks about once a second whether to go on.
        try handle.set(CURLOPT_NOPROGRESS, 0)
        let data = unsafe Unmanaged.passUnretained(context).toOpaque()
        try unsafe handle.configure { easy in
            unsafe spindle_curl_set_progress(
                easy, { data, _, _, _, _ in unsafe Context.at(data)?.isCancelled == true ? 1 : 0 }, data)
        }
        try unsafe handle.configure { easy in
            unsafe spindle_curl_set_head_writer(
                easy,
                { bytes, size, count, data in
                    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
                    if unsafe [UInt8(ascii: "4"), UInt8(ascii: "5")].contains(line.first) {
                        unsafe Context.at(data)?.refusal = unsafe Array(line.prefix(9))
                    }
                    return size * count
                }, data)
        }
        try unsafe handle.configure { easy in
            unsafe spindle_curl_set_opener(
                easy,
                { data, _, address in
                    unsafe openSocket(for: address) { unsafe Context.at(data)?.addresses.contains($0) == true }
                }, data)
        }
        try unsafe handle.configure { easy in
            unsafe spindle_curl_set_reader(
                easy,
                { buffer, size, count, data in
                    let room = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
                    return unsafe Context.at(data)?.fill(room) ?? 0
                }, data)
        }
    }

    /// Connects, signs in and sends NOOP (RFC 5321 §4.1.1.9).
    func check() throws {
        try perform { () throws(CurlFailure) in
            try handle.set(CURLOPT_NOBODY, 1)
            try handle.set(CURLOPT_CUSTOMREQUEST, "NOOP")
        }
    }

    /// Sends `message`; libcurl doubles the dots that would end it (RFC 5321 §4.5.2).
    func send(_ message: SMTPMessage) throws {
        context.rest = message.bytes[...]
        try perform { () throws(CurlFailure) in
            try handle.set(CURLOPT_MAIL_FROM, "<\(message.sender)>")
            try handle.set(CURLOPT_MAIL_RCPT, list: ["<\(message.recipient)>"])
            try handle.set(CURLOPT_UPLOAD, 1)
        }
    }

    private func perform(_ prepare: () throws(CurlFailure) -> Void) throws {
        do throws(CurlFailure) {
            try prepare()
            try handle.perform()
        } catch {
            if error.code == CURLE_ABORTED_BY_CALLBACK, context.isCancelled { throw CancellationError() }
            throw SMTPFailure(
                error.code, answer: handle.answer, isOfSender: context.hasRefusedSender, isOnMessage: context.isAsked)
        }
    }
}
