/// A path with parameters: `/user/{id}`.
struct PathTemplate: Sendable {
    enum Segment: Sendable, Hashable {
        case literal(String)
        case parameter(String)
    }

    /// The full template, with a leading slash.
    let text: String
    let segments: [Segment]

    init(_ path: String, below prefix: String = "") {
        text = path.hasPrefix("/") ? prefix + path : "\(prefix)/\(path)"
        segments = text.split(separator: "/").map { segment in
            guard segment.hasPrefix("{"), segment.hasSuffix("}") else { return .literal(String(segment)) }
            return .parameter(String(segment.dropFirst().dropLast()))
        }
    }
}
