import CLinux

extension UInt8 {
    static let carriageReturn: UInt8 = 0x0D
    static let lineFeed: UInt8 = 0x0A
    static let blank: UInt8 = 0x20
    static let tab: UInt8 = 0x09
    /// The first byte of a TLS connection (RFC 8446 §5.1).
    static let tlsHandshake: UInt8 = 0x16

    var isDigit: Bool { self &- 0x30 < 10 }

    /// The value of a hexadecimal digit; nil for other bytes.
    var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }

    /// The byte in lower case; folds ASCII only.
    var folded: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

extension Span<UInt8> {
    /// Whether these bytes equal `text` without regard to case. `text` must be in lower case.
    func equalsFolded(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { text in
            for index in 0..<count where unsafe self[index].folded != text[index] { return false }
            return true
        }
    }

    func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return unsafe withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return true }
            return unsafe memcmp(base, text.utf8Start, bytes.count) == 0
        }
    }

    func firstIndex(of byte: UInt8) -> Int? {
        for index in 0..<count where self[index] == byte { return index }
        return nil
    }

    func allSatisfy(_ condition: (UInt8) -> Bool) -> Bool {
        for index in 0..<count where !condition(self[index]) { return false }
        return true
    }

    /// The bytes as text; invalid UTF-8 is replaced.
    var text: String {
        unsafe withUnsafeBufferPointer { bytes in unsafe String(decoding: bytes, as: UTF8.self) }
    }
}

/// A set of ASCII bytes, as a bitmap.
struct ByteSet {
    private var low: (UInt64, UInt64) = (0, 0)

    /// The bytes of `characters`, which must be ASCII.
    init(_ characters: String) {
        for byte in characters.utf8 { insert(byte) }
    }

    init(_ matches: (UInt8) -> Bool) {
        for byte in UInt8(0)..<0x80 where matches(byte) { insert(byte) }
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low.0 |= 1 << UInt64(byte) } else { low.1 |= 1 << UInt64(byte - 64) }
    }

    func contains(_ byte: UInt8) -> Bool {
        byte < 64 ? low.0 >> UInt64(byte) & 1 == 1 : byte < 128 && low.1 >> UInt64(byte - 64) & 1 == 1
    }
}
