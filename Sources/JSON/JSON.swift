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
