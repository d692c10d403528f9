import Foundation
import Synchronization

/// A port of 127.0.0.1, each of whose connections is served on a thread of its own.
final class DeliveryListener: Sendable {
    let port: Int
    private let socket: Int32
    private let isStopped = Mutex(false)

    /// One connection, read by lines.
    final class Line {
        private let descriptor: Int32
        private var buffer: [UInt8] = []

        fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

        /// The next line without its CRLF; nil at the end.
        func next() -> String? {
            while true {
                if let end = buffer.indices.dropLast().first(where: { buffer[$0] == 0x0D && buffer[$0 + 1] == 0x0A }) {
                    defer { buffer.removeFirst(end + 2) }
                    return String(decoding: buffer[..<end], as: UTF8.self)
                }
                guard fill() else { return nil }
            }
        }

        /// The next `count` bytes, as text.
        func next(_ count: Int) -> String? {
            while buffer.count < count { guard fill() else { return nil } }
            defer { buffer.removeFirst(count) }
            return String(decoding: buffer[..<count], as: UTF8.self)
        }

        private func fill() -> Bool {
            var piece = [UInt8](repeating: 0, count: 65536)
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { return false }
            buffer += piece[..<count]
            return true
        }

        func say(_ text: String) {
            let bytes = Array("\(text)\r\n".utf8)
            _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }
    }

    init(_ serve: @escaping @Sendable (Line) -> Void) throws {
        #if canImport(Darwin)
            socket = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #else
            socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket, pointer, length) == 0 && listen(socket, 16) == 0
                    && getsockname(socket, pointer, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread {
            while case let connection = accept(socket, nil, nil), connection >= 0 {
                Thread {
                    serve(Line(connection))
                    close(connection)
                }.start()
            }
            // Here and nowhere else: the number of a descriptor that is closed may be somebody else's before this thread
            // asks for the next connection.
            close(socket)
        }.start()
    }

    deinit { stop() }

    /// Nobody answers any more.
    func stop() {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        if isFirst { shutdown(socket, Int32(SHUT_RDWR)) }
    }
}
