/// A node of a YAML document. Any other scalar than null is its text, whatever its tag.
public indirect enum YAMLNode: Sendable, Hashable {
    case null
    case scalar(String)
    case sequence([YAMLNode])
    case mapping([Member])

    /// A key and its value; keys are scalars.
    public struct Member: Sendable, Hashable {
        public let key: String
        public let value: YAMLNode

        public init(_ key: String, _ value: YAMLNode) {
            self.key = key
            self.value = value
        }
    }
}

extension YAMLNode {
    /// Reads exactly one document, at most 1 MiB long, 16 levels deep and 10,000 nodes large; each use of an alias
    /// counts. Keys are unique in a mapping.
    public init(parsing bytes: [UInt8]) throws(YAMLError) {
        var reader = YAMLReader(bytes)
        self = try reader.document()
    }
}
