/// The parts of a streamed body that wait to be sent (RFC 9112 §7.1).
struct StreamedParts {
    let isChunked: Bool
    private var waiting: [UInt8] = []
    private(set) var isFinished = false
    private var owesEnd = false
    private(set) var isFull = false

    private static let room = 64 * 1024

    init(isChunked: Bool = true) { self.isChunked = isChunked }

    var unsentBytes: Int { waiting.count }
    var hasOutput: Bool { !waiting.isEmpty || owesEnd }

    /// Adds a part. False when the next one must wait.
    mutating func append(_ part: [UInt8]) -> Bool {
        guard !part.isEmpty else { return true }
        if isChunked { waiting.append(contentsOf: (String(part.count, radix: 16) + "\r\n").utf8) }
        waiting.append(contentsOf: part)
        if isChunked { waiting.append(contentsOf: [.carriageReturn, .lineFeed]) }
        isFull = waiting.count >= Self.room
        return !isFull
    }

    mutating func finish() {
        isFinished = true
        owesEnd = isChunked
    }

    mutating func produce(into output: inout [UInt8]) {
        output.append(contentsOf: waiting)
        waiting.removeAll()
        guard owesEnd else { return }
        output.append(contentsOf: "0\r\n\r\n".utf8)
        owesEnd = false
    }

    /// Whether it was full before and is not any more.
    mutating func takeRoom() -> Bool {
        guard isFull, waiting.isEmpty else { return false }
        isFull = false
        return true
    }
}
