internal import COpenSSL

/// The library under every other name here.
public enum OpenSSL {
    /// Starts the library. A program that also reaches it otherwise (TLS, HTTP clients) calls this first.
    public static func start() { _ = started }

    private static let started: Void = {
        // Its own clean-up at exit would free what other threads still sign and hash with.
        precondition(OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1, "OpenSSL does not start")
    }()
}
