import HTTP

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
