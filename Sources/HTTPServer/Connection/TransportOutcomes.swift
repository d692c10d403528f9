/// The outcome of a read.
enum TransportRead: Equatable {
    /// At least one byte.
    case bytes(Int)
    /// Try again once the socket is ready.
    case again
    /// The peer will send nothing more.
    case ended
    case failed
}

/// The outcome of a write.
enum TransportWrite: Equatable {
    /// At least one byte.
    case bytes(Int)
    /// Try again once the socket is ready.
    case again
    case failed
}

/// The outcome of one step of a TLS handshake.
enum TLSHandshake: Equatable {
    case done(TLSProtocol)
    /// Try again once the socket is ready.
    case again
    case failed
}

/// The protocol agreed on (ALPN, RFC 7301).
enum TLSProtocol: Equatable { case http1, http2 }
