/// The value of a metadata member: text, or a structure of texts.
public enum MetadataValue: Sendable, Hashable {
    case string(String)
    case array([MetadataValue])
    case dictionary([String: MetadataValue])
}

extension MetadataValue: ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: MetadataValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, MetadataValue)...) {
        self = .dictionary(Dictionary(elements) { $1 })
    }
}

extension MetadataValue: CustomStringConvertible {
    public var description: String {
        switch self {
        case .string(let text): text
        case .array(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
        case .dictionary(let members):
            "[" + members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]"
        }
    }
}
