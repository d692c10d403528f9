/// Splits input into lines, holding at most one line and one piece of it in memory.
public struct LineReader {
    public enum Line: Sendable, Equatable {
        case text([UInt8])
        /// The line was skipped.
        case tooLong
    }

    /// The longest line that is read: 64 KiB.
    public static let longest = 64 * 1024

    private let read: () throws -> [UInt8]
    private var buffer: [UInt8] = []
    /// The start of the next line in `buffer`, and the end of the part already searched for a line end.
    private var start = 0
    private var searched = 0
    private var isPassingOver = false
    private var isAtEnd = false

    /// `read` returns the next piece, of any size, and an empty one at the end.
    public init(reading read: @escaping () throws -> [UInt8]) { self.read = read }

    /// The next line without its end; nil after the last.
    public mutating func next() throws -> Line? {
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[start..<end]
                start = end + 1
                searched = start
                return finish(line)
            }
            searched = buffer.count
            if isAtEnd {
                guard start < buffer.count || isPassingOver else { return nil }
                let line = buffer[start...]
                start = buffer.count
                return finish(line)
            }
            if buffer.count - start > Self.longest {
                isPassingOver = true
                start = buffer.count
            }
            buffer.removeSubrange(..<start)
            let piece = try read()
            isAtEnd = piece.isEmpty
            searched = buffer.count
            start = 0
            buffer += piece
        }
    }

    private mutating func finish(_ line: ArraySlice<UInt8>) -> Line {
        defer { isPassingOver = false }
        return isPassingOver || line.count > Self.longest ? .tooLong : .text(Array(line))
    }
}
