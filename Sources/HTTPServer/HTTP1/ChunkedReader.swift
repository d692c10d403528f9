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
