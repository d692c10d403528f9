/// What came of a read.
enum TransportRead: Equatable {
    /// More than none.
    case bytes(Int)
    /// Not before the socket says so.
    case again
    /// The peer sends nothing more.
    case ended
    case failed
}

/// What came of a write.
enum TransportWrite: Equatable {
    /// More than none.
    case bytes(Int)
    /// Not before the socket says so.
    case again
    case failed
}

/// What came of a step of a TLS handshake.
enum TLSHandshake: Equatable {
    case done(TLSProtocol)
    /// Not before the socket says so.
    case again
    case failed
}

/// What was agreed on (ALPN, RFC 7301).
enum TLSProtocol: Equatable { case http1, http2 }
