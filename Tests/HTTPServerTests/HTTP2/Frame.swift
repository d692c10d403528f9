/// A frame of HTTP/2 (RFC 9113 §4.1), made by hand: a client library would not send what a bad client sends.
struct Frame: Equatable {
    enum Kind: UInt8 {
        case data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate, continuation
    }

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    static let endStream: UInt8 = 1
    static let acknowledgement: UInt8 = 1
    static let endHeaders: UInt8 = 4

    var kind: UInt8
    var flags: UInt8 = 0
    var stream: Int32 = 0
    var payload: [UInt8] = []

    init(_ kind: Kind, flags: UInt8 = 0, stream: Int32 = 0, _ payload: [UInt8] = []) {
        self.init(kind: kind.rawValue, flags: flags, stream: stream, payload)
    }

    init(kind: UInt8, flags: UInt8 = 0, stream: Int32 = 0, _ payload: [UInt8] = []) {
        self.kind = kind
        self.flags = flags
        self.stream = stream
        self.payload = payload
    }

    var bytes: [UInt8] {
        let length = payload.count
        return [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), kind, flags]
            + Self.number(UInt32(stream)) + payload
    }

    /// A header block, split into frames of at most 16 KiB.
    var split: [UInt8] {
        guard payload.count > 16_384 else { return bytes }
        let first = Frame(
            kind: kind, flags: flags & ~Self.endHeaders, stream: stream, Array(payload.prefix(16_384)))
        var rest = Frame(.continuation, flags: Self.endHeaders, stream: stream, Array(payload.dropFirst(16_384)))
        guard rest.payload.count > 16_384 else { return first.bytes + rest.bytes }
        let middle = Frame(.continuation, stream: stream, Array(rest.payload.prefix(16_384)))
        rest.payload.removeFirst(16_384)
        return first.bytes + middle.bytes + rest.bytes
    }

    var endsStream: Bool { flags & Self.endStream != 0 }
    /// The error code of RST_STREAM, the last stream of GOAWAY, the increment of WINDOW_UPDATE.
    var number: UInt32 { payload.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
    /// The error code of GOAWAY.
    var goAwayCode: UInt32 { payload.dropFirst(4).prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }

    static func number(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }

    /// Removes the complete frames from `bytes`.
    static func take(from bytes: inout [UInt8]) -> [Frame] {
        var (frames, start): ([Frame], Int) = ([], 0)
        while bytes.count - start >= 9 {
            let length = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
            guard bytes.count - start >= 9 + length else { break }
            let stream = bytes[(start + 5)..<(start + 9)].reduce(0) { $0 << 8 | UInt32($1) }
            frames.append(
                Frame(
                    kind: bytes[start + 3], flags: bytes[start + 4], stream: Int32(stream & 0x7FFF_FFFF),
                    Array(bytes[(start + 9)..<(start + 9 + length)])))
            start += 9 + length
        }
        bytes.removeFirst(start)
        return frames
    }
}

/// Fields as HPACK literals without indexing (RFC 7541 §6.2.2).
enum HPACK {
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { [0] + text($0.0) + text($0.1) }
    }

    static func text(_ value: String) -> [UInt8] {
        let bytes = Array(value.utf8)
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var (length, rest): ([UInt8], Int) = ([127], bytes.count - 127)
        while rest >= 128 {
            length.append(UInt8(rest % 128 + 128))
            rest /= 128
        }
        return length + [UInt8(rest)] + bytes
    }
}
