internal import COpenSSL

/// A digest that is fetched from OpenSSL once, with a context for each thread: fetching it for each call takes longer
/// than a short digest itself.
///
/// `@unchecked` because OpenSSL's `EVP_MD` is a pointer. It is never changed and never freed; contexts stay with their
/// threads.
@safe final class FetchedDigest: @unchecked Sendable {
    static let sha256 = FetchedDigest("SHA256", length: 32)
    static let sha384 = FetchedDigest("SHA384", length: 48)
    static let sha512 = FetchedDigest("SHA512", length: 64)

    private let name: String
    let length: Int
    private let method: OpaquePointer
    private let contexts = unsafe PerThread { unsafe EVP_MD_CTX_free($0.map(OpaquePointer.init)) }
    private let macs = unsafe PerThread { unsafe EVP_MAC_CTX_free($0.map(OpaquePointer.init)) }

    private init(_ name: String, length: Int) {
        OpenSSL.start()
        guard let method = unsafe EVP_MD_fetch(nil, name, nil) else { preconditionFailure("OpenSSL has no \(name)") }
        self.name = name
        self.length = length
        unsafe self.method = unsafe method
    }

    /// The pointer for OpenSSL's functions.
    @unsafe var evp: OpaquePointer { unsafe method }

    func digest(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        let context = unsafe contexts.value { unsafe EVP_MD_CTX_new() }
        var output = [UInt8](repeating: 0, count: length)
        let done =
            unsafe EVP_DigestInit_ex2(context, method, nil) == 1
            && EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
            && EVP_DigestFinal_ex(context, &output, nil) == 1
        precondition(done, "OpenSSL could not digest")
        return output
    }

    func hmac(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        let context = unsafe macs.value { unsafe spindle_hmac(name) }
        // OpenSSL would take a key without an address for "the same as before".
        let secret = key.isEmpty ? [0] : key
        var output = [UInt8](repeating: 0, count: length)
        var written = 0
        let done =
            unsafe EVP_MAC_init(context, secret, key.count, nil) == 1
            && EVP_MAC_update(context, bytes, bytes.count) == 1
            && EVP_MAC_final(context, &output, &written, length) == 1
        precondition(done && written == length, "OpenSSL could not compute an HMAC")
        return output
    }
}
