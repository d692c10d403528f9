import CCurl

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
