import CCurl
import Glibc

/// Owns one libcurl transfer and the lists it reads. Made, used and closed on one thread.
@safe final class EasyHandle {
    /// Without Diffie-Hellman in finite fields: the other side chooses its size, up to 10,000 bits, and each handshake
    /// would occupy the thread that all requests share for up to a second. On an elliptic curve it takes a millisecond.
    private static let ciphers = "DEFAULT:!kDHE"
    private static let groups = "X25519:P-256:P-384:P-521"

    private let pointer: UnsafeMutableRawPointer
    private var lists: [UnsafeMutablePointer<curl_slist>] = unsafe []
    private var isClosed = false

    /// Makes a transfer that connects only to `route`: it looks up no names, and neither the environment nor the other
    /// side can send it elsewhere.
    init(_ route: Route) throws(CurlFailure) {
        guard CurlFailure.isReady, let pointer = unsafe curl_easy_init() else {
            throw CurlFailure(CURLE_FAILED_INIT)
        }
        unsafe self.pointer = pointer
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_PROTOCOLS_STR, route.scheme)
        try set(CURLOPT_REDIR_PROTOCOLS_STR, route.scheme)
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        try set(CURLOPT_PROXY, "")
        try CurlFailure.check(unsafe spindle_curl_never_resolve(pointer))
        try set(CURLOPT_CONNECT_TO, list: [route.connection])
        try set(CURLOPT_RESOLVE, list: [route.resolution])
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        // RFC 8996 retires TLS 1.0 and 1.1.
        try set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        try CurlFailure.check(unsafe spindle_curl_guard_certificates(pointer))
        try CurlFailure.check(unsafe spindle_curl_believe_one_file(pointer))
        // The certificate authorities are read again once an hour, because distributions change them.
        try set(CURLOPT_CA_CACHE_TIMEOUT, 3600)
        try set(CURLOPT_SSL_CIPHER_LIST, Self.ciphers)
        try set(CURLOPT_SSL_EC_CURVES, Self.groups)
    }

    deinit { close() }

    /// Ends the transfer, with all its callbacks.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        unsafe curl_easy_cleanup(pointer)
        while let list = unsafe lists.popLast() { unsafe curl_slist_free_all(list) }
    }

    /// Unique among the open transfers.
    var id: UInt { unsafe UInt(bitPattern: pointer) }

    func set(_ option: CURLoption, _ text: String) throws(CurlFailure) {
        try CurlFailure.check(unsafe spindle_curl_set_text(pointer, option, text))
    }

    func set(_ option: CURLoption, _ number: Int) throws(CurlFailure) {
        try CurlFailure.check(unsafe spindle_curl_set_number(pointer, option, number))
    }

    func set(_ option: CURLoption, _ limit: Duration) throws(CurlFailure) { try set(option, limit.milliseconds) }

    func set(_ option: CURLoption, list: [String]) throws(CurlFailure) {
        var head: UnsafeMutablePointer<curl_slist>?
        for item in list {
            guard let longer = unsafe curl_slist_append(head, item) else {
                unsafe curl_slist_free_all(head)
                throw CurlFailure(CURLE_OUT_OF_MEMORY)
            }
            unsafe head = longer
        }
        guard let head = unsafe head else { return }
        unsafe lists.append(head)
        try CurlFailure.check(unsafe spindle_curl_set_list(pointer, option, head))
    }

    /// Calls `body` with the libcurl handle, for functions that take a callback.
    func configure(_ body: (UnsafeMutableRawPointer) -> CURLcode) throws(CurlFailure) {
        try CurlFailure.check(unsafe body(pointer))
    }

    /// Runs the transfer, and waits until it is over.
    func perform() throws(CurlFailure) { try CurlFailure.check(unsafe curl_easy_perform(pointer)) }

    /// The last response code of the other side, 0 for none.
    var answer: Int { unsafe spindle_curl_number(pointer, CURLINFO_RESPONSE_CODE) }

    /// Whether it has a connection, including TLS if required.
    var isConnected: Bool { unsafe spindle_curl_microseconds(pointer, CURLINFO_PRETRANSFER_TIME_T) > 0 }

    /// Stops reading from its connection, if it still has one.
    func stopReading() {
        let socket = unsafe spindle_curl_socket(pointer)
        if socket != -1 { shutdown(socket, Int32(SHUT_RD)) }
    }
}
