import CLinux

/// How a socket that does not block reads and writes bytes.
enum Transport {
    case plain(Int32)
    case tls(TLSConnection)

    /// Reads into `buffer`, which must not be empty.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> TransportRead {
        guard case .plain(let descriptor) = self else { return unsafe encrypted?.read(into: buffer) ?? .failed }
        return switch unsafe linux_receive(descriptor, buffer.baseAddress, buffer.count) {
        case 0: .ended
        case let count where count > 0: .bytes(count)
        case Int(-EAGAIN), Int(-EINTR): .again
        default: .failed
        }
    }

    /// Writes `bytes`, which must not be empty.
    func write(_ bytes: UnsafeRawBufferPointer) -> TransportWrite {
        guard case .plain(let descriptor) = self else { return unsafe encrypted?.write(bytes) ?? .failed }
        return switch unsafe linux_send(descriptor, bytes.baseAddress, bytes.count) {
        case let count where count > 0: .bytes(count)
        case 0, Int(-EAGAIN), Int(-EINTR): .again
        default: .failed
        }
    }

    /// Tells the peer over TLS that nothing more will be sent.
    func shutdown() { encrypted?.shutdown() }

    func close() { encrypted?.close() }

    /// Whether a read that filled less than its buffer has emptied the socket.
    var shortReadEmpties: Bool { encrypted == nil }

    private var encrypted: TLSConnection? {
        if case .tls(let connection) = self { connection } else { nil }
    }
}

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
