import Text

/// Finds the path that a caller of an unknown one probably meant.
struct KnownPaths: Sendable {
    /// Longer ones are not compared, because anyone can send them.
    private static let longest = 64

    /// Administration and SPiD's API have names that others have too.
    private enum Part: Hashable {
        case administration, ofSPiD, others

        init(_ path: String) {
            self = path.hasPrefix("/admin") ? .administration : path.hasPrefix("/api") ? .ofSPiD : .others
        }
    }

    private let paths: [Part: [String]]
    /// By their last segment, the first of each.
    private let byEnd: [Part: [Substring: String]]

    init(_ routes: [Route]) {
        var seen: Set<String> = []
        let all = routes.map(\.template).filter { template in
            !template.segments.contains { if case .parameter = $0 { true } else { false } }
        }.map(\.text).filter { seen.insert($0).inserted }
        paths = Dictionary(grouping: all, by: Part.init)
        byEnd = paths.mapValues { some in
            Dictionary(some.map { ($0.lastSegment, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// A sentence for the developer of the caller.
    func hint(for path: String) -> String {
        guard let meant = nearest(to: path) else {
            return Part(path) == .others
                ? "There is no such endpoint: /.well-known/openid-configuration lists those of this server."
                : "There is no such endpoint."
        }
        return "There is no such endpoint: did you mean \(meant)?"
    }

    private func nearest(to path: String) -> String? {
        guard path.utf8.count <= Self.longest else { return nil }
        let part = Part(path)
        if let known = byEnd[part]?[path.lastSegment] { return known }
        // A short path is near to too many.
        return path.utf8.count < 8 ? nil : path.nearest(of: paths[part] ?? [])
    }
}

extension String {
    fileprivate var lastSegment: Substring {
        let path = hasSuffix("/") ? dropLast() : self[...]
        return path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path
    }
}
