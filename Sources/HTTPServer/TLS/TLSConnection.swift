import COpenSSL

/// One connection's TLS, over a socket that does not block. It belongs to one event loop.
@safe final class TLSConnection {
    /// The most bytes of records without data between two with data, against endless KeyUpdates (RFC 8446 §4.6.3).
    /// Bytes read ahead count too, up to one record of the largest size.
    private static let maxOverhead: UInt64 = 48 * 1024

    private var ssl: OpaquePointer?
    /// Keeps the ticket keys alive, which must outlive `ssl`.
    private let context: TLSContext
    private var isEstablished = false
    private var hasSentCloseNotify = false
    /// Why it ended, for the log. After a fatal error OpenSSL is not called again.
    private(set) var failure: TLSFailure?
    /// How many bytes had been received when data last arrived.
    private var receivedWithData: UInt64 = 0

    /// Takes ownership of `ssl`.
    init(_ ssl: OpaquePointer, context: TLSContext) {
        unsafe self.ssl = ssl
        self.context = context
        unsafe SSL_set_accept_state(ssl)
    }

    deinit { close() }

    /// Continues the handshake as far as possible.
    func handshake() -> TLSHandshake {
        guard let ssl = unsafe ssl, failure == nil else { return .failed }
        ERR_clear_error()
        let result = unsafe SSL_do_handshake(ssl)
        guard result == 1 else { return unsafe wantsMore(after: result, ssl) ? .again : .failed }
        isEstablished = true
        receivedWithData = unsafe received(ssl)
        return unsafe .done(agreed(ssl))
    }

    /// Reads at most one record's data into `buffer`, which must not be empty. `.again` means that the socket is empty.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> TransportRead {
        guard let ssl = unsafe ssl, failure == nil else { return .failed }
        while true {
            var count = 0
            var isDrained: Int32 = 0
            ERR_clear_error()
            let result = unsafe spindle_tls_read(ssl, buffer.baseAddress, buffer.count, &count, &isDrained)
            guard result != 1 else {
                receivedWithData = unsafe received(ssl)
                return .bytes(count)
            }
            let error = unsafe SSL_get_error(ssl, result)
            guard error != SSL_ERROR_ZERO_RETURN else { return .ended }
            guard unsafe wantsMore(after: result, ssl) else { return .failed }
            guard error == SSL_ERROR_WANT_READ, isDrained == 0 else { return .again }
            guard unsafe received(ssl) - receivedWithData <= Self.maxOverhead else {
                failure = .noData
                return .failed
            }
        }
    }

    /// Writes as much of `bytes` as fits; they must not be empty. After `.again` the next call must begin with the same
    /// bytes, and may add more.
    func write(_ bytes: UnsafeRawBufferPointer) -> TransportWrite {
        guard let ssl = unsafe ssl, failure == nil else { return .failed }
        var count = 0
        ERR_clear_error()
        let result = unsafe SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
        guard result != 1 else { return .bytes(count) }
        return unsafe wantsMore(after: result, ssl) ? .again : .failed
    }

    /// Tells the peer that nothing more will be sent (close_notify), without waiting for the peer's own.
    func shutdown() {
        guard let ssl = unsafe ssl, isEstablished, failure == nil, !hasSentCloseNotify else { return }
        hasSentCloseNotify = true
        ERR_clear_error()
        _ = unsafe SSL_shutdown(ssl)
        ERR_clear_error()
    }

    /// Frees OpenSSL's objects. The caller owns the descriptor.
    func close() {
        unsafe SSL_free(ssl)
        unsafe ssl = nil
    }

    /// HTTP/1.1 if the client offered no protocol (RFC 7301 §3.2).
    private func agreed(_ ssl: OpaquePointer) -> TLSProtocol {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &name, &length)
        let agreed = unsafe UnsafeBufferPointer(start: name, count: Int(length))
        return unsafe agreed.elementsEqual("h2".utf8) ? .http2 : .http1
    }

    private func received(_ ssl: OpaquePointer) -> UInt64 { unsafe BIO_number_read(SSL_get_rbio(ssl)) }

    /// Whether to repeat the call when the socket has changed; if not, `failure` has the reason.
    private func wantsMore(after result: Int32, _ ssl: OpaquePointer) -> Bool {
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return true
        default:
            failure = .latest()
            return false
        }
    }
}
