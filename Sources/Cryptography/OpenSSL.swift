internal import COpenSSL

/// The OpenSSL library, which everything else here uses.
public enum OpenSSL {
    /// Starts the library. A program that also uses it in other ways (TLS, HTTP clients) calls this first.
    public static func start() { _ = started }

    private static let started: Void = {
        // OpenSSL's own clean-up at exit would free memory that other threads still use to sign and hash.
        precondition(OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1, "OpenSSL does not start")
    }()
}
