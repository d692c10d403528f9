import HTTP

/// Reads the body of one request, up to its route's limit.
struct BodyReader {
    enum Step {
        case more
        case done
        case fault(Request.Fault)
    }

    private enum Form {
        case length(left: Int)
        case chunked(ChunkedReader)
    }

    private(set) var bytes: [UInt8] = []
    private var form: Form
    private let limit: Int

    /// The most that is reserved at once; more is reserved as bytes come.
    private static let maxReserved = 16 * 1024

    /// Nil when there is no body to read.
    init?(_ framing: Framing, limit: Int) {
        self.limit = limit
        switch framing {
        case .none: return nil
        case .length(let length):
            form = .length(left: length)
            bytes.reserveCapacity(min(length, Self.maxReserved))
        case .chunked: form = .chunked(ChunkedReader(limit: limit))
        }
    }

    /// Reads from `input`, and adds the count of bytes read to `used`.
    mutating func read(_ input: borrowing Span<UInt8>, used: inout Int) -> Step {
        switch form {
        case .length(let left):
            let count = min(left, input.count)
            bytes.append(contentsOf: input.extracting(0..<count))
            used += count
            form = .length(left: left - count)
            return left == count ? .done : .more
        case .chunked(var reader):
            do throws(ChunkedReader.Fault) {
                used += try reader.read(input, into: &bytes)
                form = .chunked(reader)
                return reader.isDone ? .done : .more
            } catch {
                return .fault(error == .tooLarge ? .tooLarge(limit: limit) : .cutOff)
            }
        }
    }
}

/// Reads a chunked body (RFC 9112 §7.1). Extensions and trailers are checked, bounded and dropped.
struct ChunkedReader {
    enum Fault: Error { case malformed, tooLarge }

    private enum State {
        case size(digits: Int), extensions(ChunkExtensions), sizeEnd, data, dataEnd, dataLineFeed, trailer, trailerEnd,
            done
    }

    /// Limits for the whole body.
    private static let maxExtensions = 1024
    private static let maxTrailers = 4096

    private let limit: Int
    private var state = State.size(digits: 0)
    private var left = 0
    private var extensions = 0
    private var trailers = 0
    private var line: [UInt8] = []

    init(limit: Int) { self.limit = limit }

    var isDone: Bool { if case .done = state { true } else { false } }

    /// Appends data to `body` until it is complete or `bytes` are used up. Returns how many bytes were used.
    mutating func read(_ bytes: borrowing Span<UInt8>, into body: inout [UInt8]) throws(Fault) -> Int {
        var position = 0
        while position < bytes.count, !isDone {
            guard case .data = state else {
                try take(bytes[position], bodyCount: body.count)
                position += 1
                continue
            }
            let count = min(left, bytes.count - position)
            body.append(contentsOf: bytes.extracting(position..<position + count))
            (position, left) = (position + count, left - count)
            if left == 0 { state = .dataEnd }
        }
        return position
    }

    private mutating func take(_ byte: UInt8, bodyCount: Int) throws(Fault) {
        switch state {
        case .size(let digits): try takeSize(byte, digits, bodyCount)
        case .extensions(let read): try takeExtension(byte, after: read)
        case .sizeEnd:
            try require(byte == .lineFeed)
            state = left == 0 ? .trailer : .data
        case .dataEnd:
            try require(byte == .carriageReturn)
            state = .dataLineFeed
        case .dataLineFeed:
            try require(byte == .lineFeed)
            state = .size(digits: 0)
        case .trailer: try takeTrailer(byte)
        case .trailerEnd:
            try require(byte == .lineFeed)
            try endTrailer()
        case .data, .done: throw .malformed
        }
    }

    /// One to 16 digits, followed by an extension or the end of the line.
    private mutating func takeSize(_ byte: UInt8, _ digits: Int, _ bodyCount: Int) throws(Fault) {
        if let value = byte.hexadecimalValue {
            try require(digits < 16 && left <= Int.max >> 4)
            left = left << 4 | Int(value)
            state = .size(digits: digits + 1)
            return
        }
        try require(digits > 0 && (byte == .carriageReturn || byte == UInt8(ascii: ";")))
        guard left <= limit - bodyCount else { throw .tooLarge }
        state = byte == .carriageReturn ? .sizeEnd : .extensions(ChunkExtensions())
    }

    private mutating func takeExtension(_ byte: UInt8, after read: ChunkExtensions) throws(Fault) {
        if byte == .carriageReturn, read.mayEnd { return state = .sizeEnd }
        var read = read
        extensions += 1
        try require(read.take(byte) && extensions <= Self.maxExtensions)
        state = .extensions(read)
    }

    private mutating func takeTrailer(_ byte: UInt8) throws(Fault) {
        if byte == .carriageReturn { return state = .trailerEnd }
        trailers += 1
        try require(byte.isText && trailers <= Self.maxTrailers)
        line.append(byte)
    }

    private mutating func endTrailer() throws(Fault) {
        guard !line.isEmpty else { return state = .done }
        guard (try? FieldLine(line.span, offset: 0)) != nil else { throw .malformed }
        line.removeAll(keepingCapacity: true)
        state = .trailer
    }

    private func require(_ condition: Bool) throws(Fault) {
        guard condition else { throw .malformed }
    }
}

extension [UInt8] {
    mutating func append(contentsOf bytes: borrowing Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}

/// The extensions of one chunk, byte by byte (RFC 9112 §7.1.1): names that are tokens, and values that are tokens or
/// quoted strings. They are ignored, but their grammar is checked: an open quotation mark would hide the end of the
/// line from a proxy that reads them differently.
struct ChunkExtensions {
    private enum State { case name, inName, afterName, value, inValue, quoted, escaped, afterQuoted, afterValue }

    private var state = State.name

    /// Whether the line may end here.
    var mayEnd: Bool {
        switch state {
        case .inName, .inValue, .afterQuoted: true
        default: false
        }
    }

    /// Takes the next byte; false outside the grammar.
    mutating func take(_ byte: UInt8) -> Bool {
        guard let next = next(byte) else { return false }
        state = next
        return true
    }

    private func next(_ byte: UInt8) -> State? {
        let isBlank = byte == UInt8(ascii: " ") || byte == .tab
        switch state {
        case .name: return byte.isTokenCharacter ? .inName : isBlank ? .name : nil
        case .inName where byte.isTokenCharacter: return .inName
        case .inName, .afterName:
            if byte == UInt8(ascii: "=") { return .value }
            return byte == UInt8(ascii: ";") ? .name : isBlank ? .afterName : nil
        case .value:
            if byte == UInt8(ascii: "\"") { return .quoted }
            return byte.isTokenCharacter ? .inValue : isBlank ? .value : nil
        case .inValue where byte.isTokenCharacter: return .inValue
        case .inValue, .afterQuoted, .afterValue: return byte == UInt8(ascii: ";") ? .name : isBlank ? .afterValue : nil
        case .quoted where byte == UInt8(ascii: "\""): return .afterQuoted
        case .quoted where byte == UInt8(ascii: "\\"): return .escaped
        case .quoted, .escaped: return byte.isText ? .quoted : nil
        }
    }
}

extension UInt8 {
    /// A byte of a value or a quoted string: anything but control characters, except a tab (RFC 9110 §5.5, §5.6.4).
    var isText: Bool { self >= 0x20 && self != 0x7F || self == .tab }
}
