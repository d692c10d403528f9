internal import COpenSSL

/// A cipher that is fetched from OpenSSL once.
///
/// `@unchecked` because OpenSSL's `EVP_CIPHER` is a pointer. It is never changed and never freed.
@safe final class FetchedCipher: @unchecked Sendable {
    static let aes256GCM = FetchedCipher("AES-256-GCM")

    private let method: OpaquePointer

    private init(_ name: String) {
        OpenSSL.start()
        guard let method = unsafe EVP_CIPHER_fetch(nil, name, nil) else {
            preconditionFailure("OpenSSL has no \(name)")
        }
        unsafe self.method = unsafe method
    }

    /// The pointer for OpenSSL's functions.
    @unsafe var evp: OpaquePointer { unsafe method }
}
