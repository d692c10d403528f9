import Glibc

/// Writes lines to a descriptor, each with one call, so that the lines of several threads and processes do not mix.
struct LineWriter {
    let descriptor: Int32

    /// Waits while the reader is slow. False when the line cannot be written.
    @discardableResult
    func write(_ line: String) -> Bool {
        var rest = Array(line.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN {
                // Another process that shares the descriptor may have made it non-blocking.
                var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&state, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
