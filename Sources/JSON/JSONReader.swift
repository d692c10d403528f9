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
