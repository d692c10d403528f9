import CCurl

/// Owns a URL parsed by libcurl.
@safe struct URLHandle: ~Copyable {
    private let pointer: OpaquePointer

    init?() {
        guard let pointer = unsafe curl_url() else { return nil }
        unsafe self.pointer = pointer
    }

    deinit { unsafe curl_url_cleanup(pointer) }

    /// Sets one part, or the whole; false when libcurl rejects it.
    func set(_ part: CURLUPart, _ text: String, _ flags: Int32 = 0) -> Bool {
        unsafe curl_url_set(pointer, part, text, UInt32(flags)) == CURLUE_OK
    }

    func get(_ part: CURLUPart, _ flags: Int32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard unsafe curl_url_get(pointer, part, &text, UInt32(flags)) == CURLUE_OK, let text = unsafe text else {
            return nil
        }
        defer { unsafe curl_free(text) }
        return unsafe String(cString: text)
    }

    /// Makes it the URL of `easy`, which must not outlive it.
    func put(on easy: UnsafeMutableRawPointer) -> CURLcode { unsafe spindle_curl_set_url(easy, pointer) }
}
