import HTTP

/// A field line (RFC 9112 §5): a name, a colon right after it, and a value between optional blanks.
struct FieldLine {
    var name: Range<Int>
    var value: Range<Int>

    private static let token = ByteSet { $0.isTokenCharacter }

    /// Reads a line without its CRLF; the only control characters in it are tabs. `offset` is where the line begins,
    /// and the ranges count from 0.
    init(_ line: borrowing Span<UInt8>, offset: Int) throws(Refusal) {
        var colon = 0
        while colon < line.count, Self.token.contains(line[colon]) { colon += 1 }
        // A blank before the colon, or at the start of the line, ends the token too (§5.1, §5.2).
        guard colon > 0, colon < line.count, line[colon] == UInt8(ascii: ":") else {
            throw .badRequest("malformed field line")
        }
        var (start, end) = (colon + 1, line.count)
        while start < end, line[start].isBlank { start += 1 }
        while end > start, line[end - 1].isBlank { end -= 1 }
        name = offset..<offset + colon
        value = offset + start..<offset + end
    }
}

extension UInt8 {
    /// Optional white space (RFC 9110 §5.6.3).
    var isBlank: Bool { self == .blank || self == .tab }
}
