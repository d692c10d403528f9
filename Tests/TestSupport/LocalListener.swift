import Foundation
import Synchronization

/// A web server on 127.0.0.1 for one purpose: hears GET requests, each on a thread of its own, and closes.
public final class LocalListener: Sendable {
    public let port: UInt16
    private let listener: Int32
    private let isStopped = Mutex(false)
    /// What it answers, whole, to the first line of a request; nil leaves the connection open until the other gives up.
    private let answer: @Sendable (_ requestLine: String) -> [UInt8]?

    public init(_ answer: @escaping @Sendable (_ requestLine: String) -> [UInt8]?) throws {
        self.answer = answer
        #if canImport(Darwin)
            listener = socket(AF_INET, SOCK_STREAM, 0)
        #else
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = self.listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
        Thread { [weak self] in
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                Thread { [weak self] in
                    self?.serve(connection)
                    close(connection)
                }.start()
            }
            // Not by whoever stops it: the number may be another's before accept has heard.
            close(listener)
        }.start()
    }

    deinit { stop() }

    /// Nobody answers any more.
    public func stop() {
        // A descriptor that is closed twice may be somebody else's by then.
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        if isFirst { shutdown(listener, Int32(SHUT_RDWR)) }
    }

    private func serve(_ connection: Int32) {
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !request.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            request += buffer[..<count]
        }
        let line = String(decoding: request.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        guard var rest = answer(line)?[...] else {
            _ = recv(connection, &buffer, buffer.count, 0)
            return
        }
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
