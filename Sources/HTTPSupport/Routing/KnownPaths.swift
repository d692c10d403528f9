import Text

/// Finds the path that a caller of an unknown one probably meant.
struct KnownPaths: Sendable {
    /// Longer ones are not compared, because anyone can send them.
    private static let longest = 64

    /// Those of administration and SPiD's API, which have names that others have too, and all the others.
    private let ofPart: [String]
    private let others: [String]
    /// By their last segment, the first of each.
    private let byEnd: [Substring: String]

    init(_ routes: [Route]) {
        var seen: Set<String> = []
        let paths = routes.map(\.template).filter { template in
            !template.segments.contains { if case .parameter = $0 { true } else { false } }
        }.map(\.text).filter { seen.insert($0).inserted }
        ofPart = paths.filter(Self.isOfPart)
        others = paths.filter { !Self.isOfPart($0) }
        byEnd = Dictionary(paths.map { ($0.lastSegment, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// A sentence for the developer of the caller.
    func hint(for path: String) -> String {
        guard let meant = nearest(to: path) else {
            return Self.isOfPart(path)
                ? "There is no such endpoint."
                : "There is no such endpoint: /.well-known/openid-configuration lists those of this server."
        }
        return "There is no such endpoint: did you mean \(meant)?"
    }

    private func nearest(to path: String) -> String? {
        guard path.utf8.count <= Self.longest else { return nil }
        let isOfPart = Self.isOfPart(path)
        if let known = byEnd[path.lastSegment], Self.isOfPart(known) == isOfPart { return known }
        // A short path is near to too many.
        return path.utf8.count < 8 ? nil : path.nearest(of: isOfPart ? ofPart : others)
    }

    private static func isOfPart(_ path: String) -> Bool { path.hasPrefix("/admin") || path.hasPrefix("/api") }
}

extension String {
    fileprivate var lastSegment: Substring {
        let path = hasSuffix("/") ? dropLast() : self[...]
        return path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path
    }
}
