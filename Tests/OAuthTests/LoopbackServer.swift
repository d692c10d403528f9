import Foundation
import Synchronization

/// A web server on 127.0.0.1 that says to every request what it was told to, and closes.
final class LoopbackServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let state: Mutex<State>

    private struct State {
        var answer: [UInt8]
        var requests: [String] = []
        var hangsUp = true
        var isStopped = false
    }

    init(_ answer: String = "") throws {
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
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard bound else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
        state = Mutex(State(answer: Array(answer.utf8)))
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
    func stop() {
        // A descriptor that is closed twice may be somebody else's by then.
        let isFirst = state.withLock { state in
            defer { state.isStopped = true }
            return !state.isStopped
        }
        guard isFirst else { return }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    var address: String { "http://127.0.0.1:\(port)/keys" }
    var requests: [String] { state.withLock { $0.requests } }

    /// From now on answers with `body`, or leaves the connection open after it.
    func answer(_ body: String, status: String = "200 OK", headers: [String] = [], hangsUp: Bool = true) {
        let head = ["HTTP/1.1 \(status)", "Connection: close"] + headers
        state.withLock {
            $0.answer = Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
            $0.hangsUp = hangsUp
        }
    }

    private func serve(_ connection: Int32) {
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !request.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            request += buffer[..<count]
        }
        let (answer, hangsUp) = state.withLock {
            $0.requests.append(String(decoding: request, as: UTF8.self))
            return ($0.answer, $0.hangsUp)
        }
        var rest = answer[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
        // Until the other side gives up.
        if !hangsUp { _ = recv(connection, &buffer, buffer.count, 0) }
    }
}
