import COpenSSL
import Foundation

@testable import HTTPServer

/// A server's end under test and OpenSSL's own client, over two non-blocking sockets of this process.
final class TLSPair {
    private(set) var server: TLSConnection
    private(set) var client: OpaquePointer?
    private let sockets: (server: Int32, client: Int32)
    private var clientContext: OpaquePointer?

    struct Offer {
        var protocols: [String] = ["h2", "http/1.1"]
        var version: Int32?
        var ciphers: String?
        var session: OpaquePointer?
        /// The size of the sockets' buffers, in bytes.
        var room: Int32?
    }

    init(_ context: TLSContext, _ offer: Offer = Offer()) throws {
        var pair: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 else {
            throw CocoaError(.fileReadUnknown)
        }
        sockets = (pair[0], pair[1])
        for socket in pair {
            _ = fcntl(socket, F_SETFL, O_NONBLOCK)
            if var room = offer.room {
                setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<Int32>.size))
            }
        }
        server = try context.connection(on: pair[0])
        clientContext = SSL_CTX_new(TLS_client_method())
        client = SSL_new(clientContext)
        SSL_set_fd(client, pair[1])
        let list = offer.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        if !list.isEmpty { SSL_set_alpn_protos(client, list, UInt32(list.count)) }
        if let version = offer.version {
            SSL_ctrl(client, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(version), nil)
            SSL_ctrl(client, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
        }
        if let ciphers = offer.ciphers { SSL_set_cipher_list(client, ciphers) }
        if let session = offer.session { SSL_set_session(client, session) }
        SSL_set_connect_state(client)
    }

    deinit {
        server.close()
        SSL_free(client)
        SSL_CTX_free(clientContext)
        close(sockets.server)
        close(sockets.client)
    }

    /// The server's result at the end of the handshake.
    func handshake() -> TLSHandshake {
        for _ in 0..<20 {
            ERR_clear_error()
            let result = SSL_do_handshake(client)
            switch server.handshake() {
            case .again: if result != 1, SSL_get_error(client, result) == SSL_ERROR_SSL { return .failed }
            case .failed: return .failed
            case .done(let agreed):
                // The server's last flight, and its session ticket.
                _ = clientReads()
                return .done(agreed)
            }
        }
        return .again
    }

    @discardableResult func clientWrites(_ bytes: [UInt8]) -> Int32 {
        ERR_clear_error()
        return SSL_write(client, bytes, Int32(bytes.count))
    }

    func clientReads() -> [UInt8] {
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            ERR_clear_error()
            let count = SSL_read(client, &part, Int32(part.count))
            guard count > 0 else { return all }
            all += part.prefix(Int(count))
        }
    }

    /// Reads until the server's end returns something other than bytes. Returns both.
    func serverReads() -> (bytes: [UInt8], end: TransportRead) {
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let outcome = part.withUnsafeMutableBytes { server.read(into: $0) }
            guard case .bytes(let count) = outcome else { return (all, outcome) }
            all += part.prefix(count)
        }
    }

    func serverWrites(_ bytes: [UInt8]) -> TransportWrite { bytes.withUnsafeBytes { server.write($0) } }

    func clientEnds() { shutdown(sockets.client, Int32(SHUT_WR)) }
    /// Sends bytes past TLS.
    func clientSays(_ bytes: [UInt8]) { _ = send(sockets.client, bytes, bytes.count, 0) }

    var isResumed: Bool { SSL_session_reused(client) == 1 }
    /// The session, which the caller must free.
    func session() -> OpaquePointer? { SSL_get1_session(client) }
}
