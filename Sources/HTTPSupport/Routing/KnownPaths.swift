import Text

/// Finds the path that a caller of an unknown one probably meant.
struct KnownPaths: Sendable {
    /// Longer ones are not compared, because anyone can send them.
    private static let longest = 64

    /// Administration and SPiD's API have names that others have too.
    private enum Part: Hashable {
        case administration, spid, other

        init(_ path: String) {
            self = path.hasPrefix("/admin") ? .administration : path.hasPrefix("/api") ? .spid : .other
        }
    }

    private struct End: Hashable {
        let part: Part
        let segment: Substring

        init(_ path: String) {
            part = Part(path)
            segment = path.lastSegment
        }
    }

    private let byPart: [Part: [String]]
    /// The first path of each part with a last segment.
    private let byEnd: [End: String]

    init(_ routes: [Route]) {
        var seen: Set<String> = []
        let paths = routes.map(\.template).filter { template in
            !template.segments.contains { if case .parameter = $0 { true } else { false } }
        }.map(\.text).filter { seen.insert($0).inserted }
        byPart = Dictionary(grouping: paths, by: Part.init)
        byEnd = Dictionary(paths.map { (End($0), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// A sentence for the developer of the caller.
    func hint(for path: String) -> String {
        if let meant = nearest(to: path) { return "There is no such endpoint: did you mean \(meant)?" }
        guard Part(path) == .other else { return "There is no such endpoint." }
        return "There is no such endpoint: /.well-known/openid-configuration lists those of this server."
    }

    private func nearest(to path: String) -> String? {
        guard path.utf8.count <= Self.longest else { return nil }
        if let known = byEnd[End(path)] { return known }
        // A short path is near to too many.
        return path.utf8.count < 8 ? nil : path.nearest(of: byPart[Part(path)] ?? [])
    }
}

extension String {
    fileprivate var lastSegment: Substring {
        let path = hasSuffix("/") ? dropLast() : self[...]
        return path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path
    }
}
