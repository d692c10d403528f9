/// Builds a node from the events of one document, within limits: a few lines of aliases can stand for gigabytes.
struct YAMLReader {
    private static let longest = 1 << 20
    private static let levels = 16
    private static let most = 10_000

    private let size: Int
    private let events: YAMLEvents
    /// Nodes with an anchor, and how many nodes each contains.
    private var anchors: [String: (node: YAMLNode, count: Int)] = [:]
    private var count = 0

    init(_ bytes: [UInt8]) {
        size = bytes.count
        events = YAMLEvents(size > Self.longest ? [] : bytes)
    }

    mutating func document() throws(YAMLError) -> YAMLNode {
        guard size <= Self.longest else { throw fault("longer than 1 MiB") }
        guard case .streamStart = try events.next(), case .documentStart = try events.next() else {
            throw fault("there is no document")
        }
        let node = try node(try events.next(), level: 1)
        guard case .documentEnd = try events.next(), case .streamEnd = try events.next() else {
            throw fault("there is more than one document")
        }
        return node
    }

    private mutating func node(_ event: YAMLEvent, level: Int) throws(YAMLError) -> YAMLNode {
        guard level <= Self.levels else { throw fault("more than \(Self.levels) levels deep") }
        let start = count
        try add(1)
        switch event {
        case .scalar(let text, let anchor): return remember(.scalar(text), as: anchor, from: start)
        case .null(let anchor): return remember(.null, as: anchor, from: start)
        case .sequenceStart(let anchor):
            return remember(.sequence(try elements(level: level)), as: anchor, from: start)
        case .mappingStart(let anchor):
            return remember(.mapping(try members(level: level)), as: anchor, from: start)
        case .alias(let name):
            // A node gets its name when it is complete, so an alias inside its own node is unknown.
            guard let anchored = anchors[name] else { throw fault("an alias of nothing") }
            try add(anchored.count - 1)
            return anchored.node
        default: throw fault("not YAML")
        }
    }

    private mutating func elements(level: Int) throws(YAMLError) -> [YAMLNode] {
        var elements: [YAMLNode] = []
        while true {
            let event = try events.next()
            if case .sequenceEnd = event { return elements }
            elements.append(try node(event, level: level + 1))
        }
    }

    private mutating func members(level: Int) throws(YAMLError) -> [YAMLNode.Member] {
        var members: [YAMLNode.Member] = []
        var keys: Set<String> = []
        while true {
            let event = try events.next()
            if case .mappingEnd = event { return members }
            guard case .scalar(let key) = try node(event, level: level + 1) else { throw fault("a key is no scalar") }
            guard keys.insert(key).inserted else { throw fault("the key occurs twice") }
            members.append(.init(key, try node(try events.next(), level: level + 1)))
        }
    }

    private mutating func remember(_ node: YAMLNode, as anchor: String?, from start: Int) -> YAMLNode {
        if let anchor { anchors[anchor] = (node, count - start) }
        return node
    }

    private mutating func add(_ nodes: Int) throws(YAMLError) {
        count += nodes
        guard count <= Self.most else { throw fault("more than \(Self.most) nodes") }
    }

    private func fault(_ problem: String) -> YAMLError { YAMLError(problem, line: events.line) }
}

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

/// Why a text is not acceptable YAML. It quotes nothing of the text, which may contain secrets.
public struct YAMLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// From 1.
    public let line: Int
    /// A sentence without capital and full stop.
    public let problem: String

    init(_ problem: String, line: Int) {
        self.line = line
        self.problem = problem
    }

    public var description: String { "line \(line): \(problem)" }
}
