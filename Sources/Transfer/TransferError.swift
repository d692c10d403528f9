import CCurl

/// Why a transfer failed. Contains neither the URL nor anything that was sent.
public enum TransferError: Error, Sendable, Equatable {
    /// A method, field or address that cannot be sent: it contains a control byte, or is no token (RFC 9110 §5.1).
    case unacceptable
    /// The client must not connect to the address.
    case refusedAddress
    /// No connection within its limit.
    case connectTimedOut
    /// No complete response within its limit.
    case timedOut
    case headTooLong
    case bodyTooLong
    /// The certificate does not verify.
    case untrusted
    /// Anything else, in libcurl's words.
    case failed(String)
}

/// An error of libcurl.
struct CurlFailure: Error {
    let code: CURLcode

    init(_ code: CURLcode) { self.code = code }

    /// Whether libcurl is ready for use in this process.
    static let isReady = spindle_curl_start() == CURLE_OK

    static func check(_ code: CURLcode) throws(CurlFailure) {
        guard code == CURLE_OK else { throw CurlFailure(code) }
    }

    /// libcurl's text for `code`.
    static func text(of code: CURLcode) -> String {
        unsafe curl_easy_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code.rawValue)"
    }
}

extension Duration {
    /// Whole milliseconds within libcurl's range, and at least one: zero would mean no limit.
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(max(1, min(seconds, 1_000_000) * 1000 + attoseconds / 1_000_000_000_000_000))
    }
}
