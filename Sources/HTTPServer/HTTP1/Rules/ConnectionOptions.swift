/// The field Connection (RFC 9112 §9.3): only its options about persistence are read.
struct ConnectionOptions {
    var close = false
    var keepAlive = false

    mutating func read(_ value: borrowing Span<UInt8>) {
        var start = 0
        for index in 0...value.count where index == value.count || value[index] == UInt8(ascii: ",") {
            var (from, to) = (start, index)
            while from < to, value[from].isBlank { from += 1 }
            while to > from, value[to - 1].isBlank { to -= 1 }
            let option = value.extracting(from..<to)
            if option.equalsFolded("close") { close = true }
            if option.equalsFolded("keep-alive") { keepAlive = true }
            start = index + 1
        }
    }

    /// RFC 9112 §9.3: HTTP/1.1 persists unless told otherwise, HTTP/1.0 only on request.
    func persists(minorVersion: Int) -> Bool { !close && (minorVersion > 0 || keepAlive) }
}
