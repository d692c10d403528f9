import CCurl
import Foundation
import Synchronization
import Values

/// One connection to a mail server by libcurl, which blocks: made, used and dropped on one thread.
final class SMTPSession {
    /// Lets another thread end what blocks this one.
    final class Cancellation: Sendable {
        let isWanted = Atomic(false)
    }

    /// What libcurl takes the message from, piece by piece.
    private final class Source {
        var rest: ArraySlice<UInt8> = []
        /// The server said yes to the envelope and to DATA, so that its next word is on the message itself.
        var isAsked = false
    }

    private let handle: UnsafeMutableRawPointer
    private let cancellation: Cancellation
    private let source = Source()

    private static let isReady = spindle_curl_start() == CURLE_OK

    /// `name` is what we call ourselves (RFC 5321 §4.1.1.1).
    init(to server: SMTPServer, as name: String, _ cancellation: Cancellation) throws {
        guard Self.isReady, let handle = curl_easy_init() else { throw MailFailure.temporary("libcurl does not start") }
        self.handle = handle
        self.cancellation = cancellation
        let scheme = server.security == .tls ? "smtps" : "smtp"
        try set(CURLOPT_URL, "\(scheme)://\(server.authority)/\(name)")
        // The address is the operator's: nothing in the environment leads elsewhere.
        try set(CURLOPT_PROXY, "")
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_CONNECTTIMEOUT, 10)
        try set(CURLOPT_TIMEOUT, Int(SMTPMailer.longestWait.components.seconds))
        try secure(server)
        if let credentials = server.credentials {
            try set(CURLOPT_USERNAME, credentials.user)
            try set(CURLOPT_PASSWORD, credentials.password.value)
        }
        // About once a second libcurl asks whether to go on.
        try set(CURLOPT_NOPROGRESS, 0)
        let wanted = Unmanaged.passUnretained(cancellation).toOpaque()
        try check(
            spindle_curl_set_progress(
                handle,
                { data, _, _, _, _ in
                    guard let data else { return 0 }
                    let cancellation = Unmanaged<Cancellation>.fromOpaque(data).takeUnretainedValue()
                    return cancellation.isWanted.load(ordering: .relaxed) ? 1 : 0
                }, wanted))
    }

    /// Says QUIT (RFC 5321 §4.1.1.10), but does not wait minutes for the answer.
    deinit {
        let socket = spindle_curl_socket(handle)
        if socket != -1 { shutdown(socket, Int32(SHUT_RD)) }
        curl_easy_cleanup(handle)
    }

    private func secure(_ server: SMTPServer) throws {
        let use = server.security == .startTLS ? CURLUSESSL_ALL : CURLUSESSL_NONE
        try set(CURLOPT_USE_SSL, Int(use.rawValue))
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        // RFC 8996: TLS 1.0 and 1.1 are over.
        try set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        if let authorities = server.authorities { try set(CURLOPT_CAINFO, authorities) }
    }

    /// Connects, signs in and says NOOP (RFC 5321 §4.1.1.9).
    func check() throws {
        try set(CURLOPT_NOBODY, 1)
        try set(CURLOPT_CUSTOMREQUEST, "NOOP")
        try perform()
    }

    /// Sends `message`; libcurl doubles the dots that would end it (RFC 5321 §4.5.2).
    func send(_ message: [UInt8], from sender: MailAddress, to recipient: MailAddress) throws {
        try set(CURLOPT_MAIL_FROM, "<\(sender)>")
        let recipients = curl_slist_append(nil, "<\(recipient)>")
        defer { curl_slist_free_all(recipients) }
        try check(spindle_curl_set_list(handle, CURLOPT_MAIL_RCPT, recipients))
        try set(CURLOPT_UPLOAD, 1)
        source.rest = message[...]
        try check(
            spindle_curl_set_reader(
                handle,
                { buffer, size, count, data in
                    guard let buffer, let data else { return 0 }
                    let source = Unmanaged<Source>.fromOpaque(data).takeUnretainedValue()
                    source.isAsked = true
                    let piece = source.rest.prefix(size * count)
                    source.rest = source.rest.dropFirst(piece.count)
                    UnsafeMutableRawBufferPointer(start: buffer, count: piece.count).copyBytes(from: piece)
                    return piece.count
                }, Unmanaged.passUnretained(source).toOpaque()))
        try perform()
    }

    private func perform() throws {
        let code = curl_easy_perform(handle)
        if code == CURLE_ABORTED_BY_CALLBACK, cancellation.isWanted.load(ordering: .relaxed) {
            throw CancellationError()
        }
        guard code != CURLE_OK else { return }
        throw MailFailure(code, answer: spindle_curl_response_code(handle), isOnMessage: source.isAsked)
    }

    private func set(_ option: CURLoption, _ text: String) throws {
        try check(spindle_curl_set_text(handle, option, text))
    }

    private func set(_ option: CURLoption, _ number: Int) throws {
        try check(spindle_curl_set_number(handle, option, number))
    }

    private func check(_ code: CURLcode) throws {
        guard code == CURLE_OK else { throw MailFailure(code, answer: 0, isOnMessage: false) }
    }
}
