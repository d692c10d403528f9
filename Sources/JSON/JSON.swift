/// A JSON value whose members keep their order, so that responses, signatures and stored values are reproducible.
public enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([Member])

    public struct Member: Sendable, Hashable {
        public let name: String
        public let value: JSON
        public init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }

    /// An object of `members`, without those that have no value: absent, never null.
    public static func members(_ members: KeyValuePairs<String, JSON?>) -> JSON {
        var present: [Member] = []
        present.reserveCapacity(members.count)
        for (name, value) in members { if let value { present.append(Member(name, value)) } }
        return .object(present)
    }

    /// The member `name` of an object.
    public subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// An object without its null members, for a reader to whom those are absent.
    public var withoutNulls: JSON {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { $0.value != .null })
    }

    public var string: String? { if case .string(let text) = self { text } else { nil } }
    public var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    public var array: [JSON]? { if case .array(let values) = self { values } else { nil } }
    public var members: [Member]? { if case .object(let members) = self { members } else { nil } }
    public var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .number(let number): Int64(exactly: number)
        default: nil
        }
    }
    /// An array of strings, or nil for anything else.
    public var strings: [String]? {
        guard let array else { return nil }
        let strings = array.compactMap(\.string)
        return strings.count == array.count ? strings : nil
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSON {
    /// The compact form.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The compact form as UTF-8, to be sent and signed.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append("null")
        case .bool(let flag): bytes.append(flag ? "true" : "false")
        case .integer(let number): bytes.append(String(number))
        case .number(let number): bytes.append(number.isFinite ? "\(number)" : "null")
        case .string(let value): Self.quote(value, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.quote(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func quote(_ value: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        // The common case, a token or a name, has nothing to escape.
        if mustBeLookedAt(value.utf8.span) {
            for scalar in value.unicodeScalars { write(scalar, to: &bytes) }
        } else {
            bytes.append(value)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether any byte may need an escape; 0xE2 begins the two line separators. A span, because an iterator over the
    /// string took one instruction in thirty of an introspection.
    private static func mustBeLookedAt(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices {
            let byte = bytes[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "<")
                || byte == 0xE2
            {
                return true
            }
        }
        return false
    }

    private static func write(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
        switch scalar {
        case "\"": bytes += "\\\"".utf8
        case "\\": bytes += "\\\\".utf8
        case "\n": bytes += "\\n".utf8
        case "\r": bytes += "\\r".utf8
        case "\t": bytes += "\\t".utf8
        // Escaped so that the text cannot end a script element that embeds it.
        case "\u{0}"..<"\u{20}", "<", "\u{2028}", "\u{2029}":
            let digits = String(scalar.value, radix: 16)
            bytes += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
        default: bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ text: String) {
        text.utf8.span.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}
