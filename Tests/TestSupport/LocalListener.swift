import Foundation
import Synchronization

/// A server on 127.0.0.1 that serves each connection on its own thread and then closes it.
public final class LocalListener: Sendable {
    public let port: UInt16
    private let socket: Int32
    private let isStopped = Mutex(false)

    /// Starts a server that handles each connection with `serve`.
    public init(serving serve: @escaping @Sendable (Connection) -> Void) throws {
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, length) == 0 && listen(socket, 64) == 0
                    && getsockname(socket, address, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
        Thread {
            while case let descriptor = accept(socket, nil, nil), descriptor >= 0 {
                Thread {
                    serve(Connection(descriptor))
                    close(descriptor)
                }.start()
            }
            // The only place that closes it: another file may get the number of a closed descriptor before this thread
            // accepts the next connection.
            close(socket)
        }.start()
    }

    /// Starts a web server that only looks at the first line of a request. `answer` returns the whole response to it;
    /// nil leaves the connection open until the client gives up.
    public convenience init(_ answer: @escaping @Sendable (_ requestLine: String) -> [UInt8]?) throws {
        try self.init(serving: { connection in
            // Read to the end: a connection closed with unread data may be reset.
            guard let head = connection.head(), let line = head.first, connection.body(after: head) != nil else {
                return
            }
            guard let bytes = answer(line) else { return connection.waitForEnd() }
            connection.send(bytes)
        })
    }

    deinit { stop() }

    /// Stops accepting connections.
    public func stop() {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        if isFirst { shutdown(socket, Int32(SHUT_RDWR)) }
    }
}

extension LocalListener {
    /// A connection of one client.
    public final class Connection {
        private let descriptor: Int32
        private var buffer: [UInt8] = []

        fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

        /// The next line without its CRLF; nil at the end.
        public func next() -> String? {
            while true {
                if let end = buffer.indices.dropLast().first(where: { buffer[$0] == 0x0D && buffer[$0 + 1] == 0x0A }) {
                    defer { buffer.removeFirst(end + 2) }
                    return String(decoding: buffer[..<end], as: UTF8.self)
                }
                guard fill() else { return nil }
            }
        }

        /// The next `count` bytes as text; nil when the connection ends first.
        public func next(_ count: Int) -> String? { bytes(count).map { String(decoding: $0, as: UTF8.self) } }

        /// The next `count` bytes; nil when the connection ends first.
        public func bytes(_ count: Int) -> [UInt8]? {
            while buffer.count < count { guard fill() else { return nil } }
            defer { buffer.removeFirst(count) }
            return Array(buffer[..<count])
        }

        /// The lines of a request up to the empty one; nil when the connection ends first.
        public func head() -> [String]? {
            var lines: [String] = []
            while let line = next() {
                guard !line.isEmpty else { return lines }
                lines.append(line)
            }
            return nil
        }

        /// The body that follows `head`.
        public func body(after head: [String]) -> String? {
            next(Self.header("content-length", in: head).flatMap { Int($0) } ?? 0)
        }

        /// The value of the header `name`, which is in lower case.
        public static func header(_ name: String, in head: [String]) -> String? {
            head.first { $0.lowercased().hasPrefix(name + ":") }
                .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }

        public func say(_ line: String) { send(Array("\(line)\r\n".utf8)) }

        public func send(_ bytes: [UInt8]) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }

        /// Waits until the client closes the connection.
        public func waitForEnd() { while fill() {} }

        private func fill() -> Bool {
            var piece = [UInt8](repeating: 0, count: 65536)
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { return false }
            buffer += piece[..<count]
            return true
        }
    }
}
