import HTTP

/// Finds the route of a request: a tree of segments, built at the start and searched without allocation. Literals take
/// precedence over parameters. Repeated and trailing slashes are ignored, except that repeated ones count in operators'
/// paths.
struct RouteTable: Sendable {
    /// The number of the route for unknown paths.
    static let notFound = 0

    /// By number: the first is for unknown paths.
    private(set) var routes: [Route]
    private let tree: SegmentTree
    /// By the tree's number of a path: its routes. The route after them refuses other methods.
    private var paths: [Range<Int>] = []
    /// Methods that get 405 where a path does not support them. Other methods are unknown everywhere.
    private static let methods: [HTTP.Method] = [.get, .head, .post, .put, .patch, .delete, .options]

    init(_ offered: [Route]) {
        routes = [
            Route(.get, PathTemplate("/"), readers: .none, refusal: nil) { _, _ in throw HTTPRefusal(.notFound) }
        ]
        var tree = SegmentTree()
        var byPath: [[Route]] = []
        for route in offered {
            let path = tree.insert(route.template)
            if path == byPath.count { byPath.append([]) }
            precondition(!byPath[path].contains { $0.method == route.method }, "\(route) is offered twice")
            byPath[path].append(route)
        }
        self.tree = tree
        for offered in byPath {
            let first = routes.count
            routes += offered
            paths.append(first..<routes.count)
            routes.append(Self.refusal(beside: offered))
        }
    }

    /// The number of the route for `method` at `path`.
    func find(_ method: HTTP.Method, _ path: String) -> Int {
        guard let index = tree.find(path) else { return Self.notFound }
        let offered = paths[index]
        guard !routes[offered.lowerBound].isForOperators || !path.contains("//") else { return Self.notFound }
        for number in offered where routes[number].answers(method) { return number }
        return Self.methods.contains(method) ? offered.upperBound : Self.notFound
    }

    /// Responds with 405 and `Allow` (RFC 9110 §15.5.6).
    private static func refusal(beside offered: [Route]) -> Route {
        let allowed = offered.flatMap(\.methods).map(\.rawValue).sorted().joined(separator: ", ")
        return Route(.get, offered[0].template, readers: offered[0].readers, refusal: nil) { _, _ in
            throw HTTPRefusal(.methodNotAllowed, headers: [.allow: allowed])
        }
    }
}
