import COpenSSL

/// A certificate with its key, and the rules of every TLS connection made with it.
///
/// TLS 1.2 and 1.3, ECDHE with AEAD only (RFC 9325 §4.2), stateless tickets, no renegotiation, no early data. It never
/// changes: another certificate is another context, and connections keep theirs.
@safe final class TLSContext: Sendable {
    // Nothing changes an SSL_CTX after init, and OpenSSL counts its users atomically.
    private nonisolated(unsafe) let context: OpaquePointer
    /// Kept alive for the callback in `context`.
    private let tickets: TicketKeys
    /// Seconds since 1970.
    let certificateEnd: Int64

    /// For TLS 1.2. OpenSSL's own list for TLS 1.3 has no weak suite.
    private static let ciphers = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
        "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
    ].joined(separator: ":")

    init(_ settings: TLSSettings, tickets: TicketKeys) throws(TLSError) {
        _ = spindle_tls_start()
        ERR_clear_error()
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else {
            throw .unavailable(reason: TLSFailure.latest().description)
        }
        do throws(TLSError) {
            try unsafe Self.configure(context)
            try unsafe Self.load(settings, into: context)
            certificateEnd = try unsafe Self.readEnd(of: settings.certificate, in: context)
        } catch {
            unsafe SSL_CTX_free(context)
            throw error
        }
        unsafe tickets.attach(to: context)
        unsafe self.context = context
        self.tickets = tickets
    }

    deinit { unsafe SSL_CTX_free(context) }

    /// The server's end of TLS on a non-blocking socket, which the caller continues to own.
    func connection(on descriptor: Int32) throws(TLSError) -> TLSConnection {
        ERR_clear_error()
        guard let ssl = unsafe SSL_new(context) else { throw .unavailable(reason: TLSFailure.latest().description) }
        guard unsafe SSL_set_fd(ssl, descriptor) == 1 else {
            unsafe SSL_free(ssl)
            throw .unavailable(reason: TLSFailure.latest().description)
        }
        return unsafe TLSConnection(ssl, context: self)
    }

    private static func configure(_ context: OpaquePointer) throws(TLSError) {
        // One name for all: with client certificates, resumption requires one.
        let name: [UInt8] = Array("server".utf8)
        guard unsafe spindle_tls_configure(context) == 1,
            unsafe SSL_CTX_set_cipher_list(context, ciphers) == 1,
            unsafe SSL_CTX_set_num_tickets(context, 1) == 1,
            unsafe SSL_CTX_set_session_id_context(context, name, UInt32(name.count)) == 1
        else { throw .unavailable(reason: TLSFailure.latest().description) }
        unsafe SSL_CTX_set_alpn_select_cb(context, selectProtocol, nil)
        // OpenSSL would ask on the terminal; 0 would be an empty password.
        unsafe SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }
    }

    private static func load(_ settings: TLSSettings, into context: OpaquePointer) throws(TLSError) {
        guard unsafe SSL_CTX_use_certificate_chain_file(context, settings.certificate) == 1 else {
            throw TLSFailure.latest().error(inCertificate: settings.certificate)
        }
        guard unsafe SSL_CTX_use_PrivateKey_file(context, settings.key, SSL_FILETYPE_PEM) == 1 else {
            throw TLSFailure.latest().error(inKey: settings.key, of: settings.certificate)
        }
        guard unsafe SSL_CTX_check_private_key(context) == 1 else {
            throw .wrongKey(file: settings.key, certificate: settings.certificate)
        }
    }

    private static func readEnd(of file: String, in context: OpaquePointer) throws(TLSError) -> Int64 {
        var end: Int64 = 0
        guard unsafe spindle_tls_certificate_end(context, &end) == 1 else { throw .noCertificate(file: file) }
        return end
    }
}

/// The protocols of the server, preferred one first.
private let offered: [StaticString] = ["h2", "http/1.1", "http/1.0"]

/// Chooses from a client's list (RFC 7301 §3.2); without overlap the handshake fails. The choice points into the list,
/// which outlives this call.
func selectProtocol(
    _ ssl: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenLength: UnsafeMutablePointer<UInt8>?, _ list: UnsafePointer<UInt8>?, _ listLength: UInt32,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    let list = unsafe UnsafeBufferPointer(start: list, count: Int(listLength))
    for name in offered {
        var position = 0
        while position < list.count {
            let length = unsafe Int(list[position])
            guard position + 1 + length <= list.count else { return SSL_TLSEXT_ERR_ALERT_FATAL }
            let entry = unsafe UnsafeBufferPointer(rebasing: list[(position + 1)..<(position + 1 + length)])
            let same = name.withUTF8Buffer { text in unsafe entry.elementsEqual(text) }
            if same {
                unsafe chosen?.pointee = entry.baseAddress
                unsafe chosenLength?.pointee = UInt8(length)
                return SSL_TLSEXT_ERR_OK
            }
            position += 1 + length
        }
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}

/// The files of a server's certificate.
public struct TLSSettings: Sendable, Hashable {
    /// The certificate and its chain, PEM, the server's own first.
    public var certificate: String
    /// The certificate's private key, PEM, not encrypted.
    public var key: String

    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// Reads both files as the server does at start, and returns when the certificate ends, in seconds since 1970.
    public func certificateEnd() throws(TLSError) -> Int64 {
        try TLSContext(self, tickets: TicketKeys()).certificateEnd
    }
}
