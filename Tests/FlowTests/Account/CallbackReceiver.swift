import Foundation
import Synchronization

/// A merchant's server on 127.0.0.1: takes each callback and shows it to the test that waits for it.
final class CallbackReceiver: Sendable {
    struct Call: Sendable {
        let path: String
        let contentType: String
        let body: String
    }

    let port: UInt16
    private let listener: Int32
    private let calls: AsyncStream<Call>
    private let arrived: AsyncStream<Call>.Continuation
    /// What it says to the next callbacks, before it says yes to all others.
    private let refusals: Mutex<Int>
    private let refused: AsyncStream<Call>
    private let turnedAway: AsyncStream<Call>.Continuation

    init(refusing refusals: Int = 0) throws {
        (calls, arrived) = AsyncStream<Call>.makeStream()
        (refused, turnedAway) = AsyncStream<Call>.makeStream()
        self.refusals = Mutex(refusals)
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
                bind(listener, address, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
        Thread { [weak self] in
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                self?.serve(connection)
                close(connection)
            }
        }.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    struct NoCall: Error {}

    /// The next callback that was taken.
    func next() async throws -> Call { try await Self.first(of: calls, arrived) }

    /// The next callback that was not.
    func nextRefused() async throws -> Call { try await Self.first(of: refused, turnedAway) }

    private static func first(
        of calls: AsyncStream<Call>, _ end: AsyncStream<Call>.Continuation
    ) async throws -> Call {
        let limit = Task {
            try await Task.sleep(for: .seconds(30))
            end.finish()
        }
        defer { limit.cancel() }
        for await call in calls { return call }
        throw NoCall()
    }

    private func serve(_ connection: Int32) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while Self.isIncomplete(bytes) {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            bytes += buffer[..<count]
        }
        let refuses = refusals.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        let answer = "HTTP/1.1 \(refuses ? "503 Later" : "200 OK")\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        _ = answer.withCString { send(connection, $0, answer.utf8.count, Int32(MSG_NOSIGNAL)) }
        let (head, body) = Self.parts(bytes)
        (refuses ? turnedAway : arrived).yield(
            Call(
                path: head.split(separator: " ").dropFirst().first.map(String.init) ?? "",
                contentType: Self.header("content-type", of: head) ?? "", body: body))
    }

    private static func isIncomplete(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("\r\n\r\n") else { return true }
        let (head, body) = parts(bytes)
        return body.utf8.count < header("content-length", of: head).flatMap { Int($0) } ?? 0
    }

    private static func parts(_ bytes: [UInt8]) -> (head: String, body: String) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let gap = text.firstRange(of: "\r\n\r\n") else { return (text, "") }
        return (String(text[..<gap.lowerBound]), String(text[gap.upperBound...]))
    }

    private static func header(_ name: String, of head: String) -> String? {
        for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix(name + ":") {
            return line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
        }
        return nil
    }
}
