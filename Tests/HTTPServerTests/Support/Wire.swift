import Glibc

/// A client's connection to a port of this machine. No call waits longer than a minute.
final class Wire {
    struct Failure: Error {
        let call: String
        let code = errno
    }

    private(set) var descriptor: Int32
    private var buffered: [UInt8] = []

    /// A small `receiveBuffer` simulates a slow reader. It comes from 127.0.0.`source`, if that is given.
    init(port: Int, receiveBuffer: Int32? = nil, source: UInt32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket") }
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        let length = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, length)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, length)
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        if let source {
            var own = sockaddr_in()
            own.sin_family = sa_family_t(AF_INET)
            own.sin_addr.s_addr = (0x7F00_0000 | source).bigEndian
            let isBound = withUnsafePointer(to: &own) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isBound else { throw Failure(call: "bind") }
        }
        if var receiveBuffer { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, 4) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            Glibc.close(descriptor)
            descriptor = -1
            throw Failure(call: "connect")
        }
    }

    deinit { close() }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(call: "send") }
            sent += count
        }
    }

    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Closes the connection with a reset.
    func reset() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Reads everything until the connection ends or is reset.
    func readToEnd() -> [UInt8] {
        var all = buffered
        buffered = []
        while let more = receive(), !more.isEmpty { all += more }
        return all
    }

    /// Reads what has arrived so far.
    func readWhatIsThere() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return Array(bytes.prefix(max(0, count)))
    }

    /// The next response with a Content-Length or without a body.
    func answer(toHead: Bool = false) throws -> WireAnswer {
        while true {
            if let (answer, count) = WireAnswer.first(in: buffered, toHead: toHead) {
                buffered.removeFirst(count)
                return answer
            }
            guard let more = receive(), !more.isEmpty else { throw Failure(call: "recv") }
            buffered += more
        }
    }

    /// Nil for an error, empty at the end.
    private func receive() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }
}
