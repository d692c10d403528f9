import Values

extension JSON {
    /// Reads one JSON value (RFC 8259) strictly: valid UTF-8, unique member names in an object, at most 64 levels.
    ///
    /// Foundation's parser silently accepts two members of the same name, loses their order, and takes tens of
    /// microseconds for each scalar read into an enum; a hostile 64 KiB body must stay cheap.
    public init(parsing bytes: [UInt8]) throws(JSONSyntaxError) {
        var reader = JSONReader(bytes: bytes)
        self = try reader.document()
    }

    /// Reads JSON that Spindle stored. Its marks are not limited, since older values were stored without that check.
    public init(stored text: String) throws(JSONSyntaxError) {
        var reader = JSONReader(bytes: Array(text.utf8), takesAnyText: true)
        self = try reader.document()
    }
}

/// Why a text is not acceptable JSON.
public enum JSONSyntaxError: Error, Sendable, Equatable, CustomStringConvertible {
    case malformed(offset: Int)
    /// RFC 8259 §4 does not say which of two equal members counts; two readers must not see two different requests.
    case repeatedName(String)
    case tooDeep
    /// The text would be slow to compare: see `isStreamSafe`.
    case tooManyMarks(offset: Int)

    public var description: String {
        switch self {
        case .malformed(let offset): "not valid JSON at byte \(offset)"
        case .repeatedName(let name): "the member \"\(name)\" occurs twice"
        case .tooDeep: "nested more than \(JSONReader.levels) levels deep"
        case .tooManyMarks(let offset): "\(String.tooManyMarks) at byte \(offset)"
        }
    }
}

extension JSONSyntaxError {
    /// What is wrong in `bytes` and where, as the end of a sentence about them. It quotes none of them.
    public func place(in bytes: [UInt8]) -> String {
        switch self {
        case .malformed(let offset):
            let (line, column) = Self.position(of: offset, in: bytes)
            return "is not JSON at line \(line), column \(column)" + Self.likelyFault(at: offset, in: bytes)
        case .tooManyMarks(let offset):
            let (line, column) = Self.position(of: offset, in: bytes)
            return "has \(String.tooManyMarks) at line \(line), column \(column)"
        case .repeatedName: return "has two members with the same name"
        case .tooDeep: return "is nested more than \(JSONReader.levels) levels deep"
        }
    }

    /// Both count from 1; a column is a byte.
    private static func position(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
        let before = bytes.prefix(offset)
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return (before.count { $0 == UInt8(ascii: "\n") } + 1, before.count - lineStart + 1)
    }

    private static func likelyFault(at offset: Int, in bytes: [UInt8]) -> String {
        guard offset < bytes.count else { return ": it ends too early" }
        let last = bytes.prefix(offset).last { !" \t\r\n".utf8.contains($0) }
        switch bytes[offset] {
        case UInt8(ascii: "'"): return ": names and texts stand in double quotes"
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            return last == UInt8(ascii: ",") ? ": nothing follows the last comma" : ""
        case UInt8(ascii: "\"") where last == UInt8(ascii: "\""): return ": a comma or colon is missing before it"
        default: return ""
        }
    }
}

struct JSONReader {
    static let levels = 64

    let bytes: [UInt8]
    let takesAnyText: Bool
    var index = 0

    init(bytes: [UInt8], takesAnyText: Bool = false) {
        self.bytes = bytes
        self.takesAnyText = takesAnyText
    }

    mutating func document() throws(JSONSyntaxError) -> JSON {
        let value = try value(level: 0)
        skipWhitespace()
        guard index == bytes.count else { throw fault }
        return value
    }

    var fault: JSONSyntaxError { .malformed(offset: index) }
    var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func value(level: Int) throws(JSONSyntaxError) -> JSON {
        guard level < Self.levels else { throw .tooDeep }
        skipWhitespace()
        switch next {
        case UInt8(ascii: "{"): return .object(try members(level: level))
        case UInt8(ascii: "["): return .array(try elements(level: level))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return try number()
        }
    }

    private mutating func members(level: Int) throws(JSONSyntaxError) -> [JSON.Member] {
        var members: [JSON.Member] = []
        var names: Set<String> = []
        index += 1
        guard !take("}") else { return members }
        repeat {
            skipWhitespace()
            let name = try string()
            guard names.insert(name).inserted else { throw .repeatedName(name) }
            guard take(":") else { throw fault }
            members.append(JSON.Member(name, try value(level: level + 1)))
        } while take(",")
        guard take("}") else { throw fault }
        return members
    }

    private mutating func elements(level: Int) throws(JSONSyntaxError) -> [JSON] {
        var elements: [JSON] = []
        index += 1
        guard !take("]") else { return elements }
        repeat { elements.append(try value(level: level + 1)) } while take(",")
        guard take("]") else { throw fault }
        return elements
    }

    private mutating func literal(_ text: StaticString, _ value: JSON) throws(JSONSyntaxError) -> JSON {
        for offset in 0..<text.utf8CodeUnitCount {
            guard next == text.utf8Start[offset] else { throw fault }
            index += 1
        }
        return value
    }

    private mutating func skipWhitespace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    /// Steps over white space, and over `mark` if it comes next.
    private mutating func take(_ mark: Unicode.Scalar) -> Bool {
        skipWhitespace()
        guard next == UInt8(ascii: mark) else { return false }
        index += 1
        return true
    }
}

// MARK: - Numbers (RFC 8259 §6)

extension JSONReader {
    mutating func number() throws(JSONSyntaxError) -> JSON {
        let start = index
        var isWhole = true
        if next == UInt8(ascii: "-") { index += 1 }
        if next == UInt8(ascii: "0") { index += 1 } else { try digits() }
        if next == UInt8(ascii: ".") {
            isWhole = false
            index += 1
            try digits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            isWhole = false
            index += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { index += 1 }
            try digits()
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if isWhole, let number = Int64(text) { return .integer(number) }
        guard let number = Double(text), number.isFinite else { throw .malformed(offset: start) }
        return .number(number)
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = index
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        guard index > start else { throw fault }
    }
}

// MARK: - Strings (RFC 8259 §7)

extension JSONReader {
    mutating func string() throws(JSONSyntaxError) -> String {
        guard next == UInt8(ascii: "\"") else { throw fault }
        index += 1
        let start = index
        var decoded: [UInt8]?
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw fault }
            if byte == UInt8(ascii: "\\") {
                var text = decoded ?? Array(bytes[start..<index])
                decoded = nil
                index += 1
                text.append(contentsOf: Array(String(try escape()).utf8))
                decoded = text
            } else {
                decoded?.append(byte)
                index += 1
            }
        }
        guard next != nil else { throw fault }
        let text =
            if let decoded { String(validating: decoded, as: UTF8.self) } else {
                String(validating: bytes[start..<index], as: UTF8.self)
            }
        guard let text else { throw .malformed(offset: start) }
        // Checked before the text is hashed or compared.
        guard takesAnyText || text.isStreamSafe else { throw .tooManyMarks(offset: start) }
        index += 1
        return text
    }

    private mutating func escape() throws(JSONSyntaxError) -> Unicode.Scalar {
        guard let letter = next else { throw fault }
        index += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try scalar()
        default: throw fault
        }
    }

    /// One code point from `\uXXXX`, or from two that make a surrogate pair; half a pair is a fault.
    private mutating func scalar() throws(JSONSyntaxError) -> Unicode.Scalar {
        let unit = try codeUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, next == UInt8(ascii: "\\") else { throw fault }
        index += 1
        guard next == UInt8(ascii: "u") else { throw fault }
        index += 1
        let low = try codeUnit()
        guard (0xDC00...0xDFFF).contains(low) else { throw fault }
        let high = UInt32(unit - 0xD800) << 10
        guard let scalar = Unicode.Scalar(0x10000 + high + UInt32(low - 0xDC00)) else { throw fault }
        return scalar
    }

    private mutating func codeUnit() throws(JSONSyntaxError) -> UInt16 {
        guard index + 4 <= bytes.count else { throw fault }
        var unit: UInt16 = 0
        for byte in bytes[index..<index + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else { throw fault }
            unit = unit << 4 | UInt16(digit)
        }
        index += 4
        return unit
    }
}
