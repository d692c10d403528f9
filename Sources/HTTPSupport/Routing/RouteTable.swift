public import HTTP

/// Finds the route of a request: a tree of segments, built at the start and searched without allocation. Literals take
/// precedence over parameters. Repeated and trailing slashes are ignored, except in operators' paths: there an empty id
/// would turn one item into the whole list.
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
        let known = KnownPaths(offered)
        routes = [
            Route(.get, PathTemplate("/"), readers: .none, refusal: nil) { request, _ in
                throw HTTPRefusal(.notFound, hint: known.hint(for: request.target.path))
            }
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
        guard !routes[offered.lowerBound].isForOperators || !(path.contains("//") || path.hasSuffix("/")) else {
            return Self.notFound
        }
        for number in offered where routes[number].answers(method) { return number }
        return Self.methods.contains(method) ? offered.upperBound : Self.notFound
    }

    /// Responds with 405 and `Allow` (RFC 9110 §15.5.6).
    private static func refusal(beside offered: [Route]) -> Route {
        let allowed = offered.flatMap(\.methods).map(\.rawValue).sorted().joined(separator: ", ")
        // The others come with these.
        let usual = offered.map(\.method.rawValue).filter { $0 != HTTP.Method.options.rawValue }.sorted()
        let meant = (usual.count > 1 ? usual.dropLast().joined(separator: ", ") + " or " : "") + (usual.last ?? "")
        return Route(.get, offered[0].template, readers: offered[0].readers, refusal: nil) { request, _ in
            // A route is found for known methods only.
            throw HTTPRefusal(
                .methodNotAllowed, headers: [.allow: allowed],
                hint: "Use \(meant) here, not \(request.method.rawValue).")
        }
    }
}

/// The routes of the endpoints, in the order in which they were added.
public struct Routes: Sendable {
    /// Makes the response to an error below a path; nil leaves it to the error boundary.
    public typealias Refusal = @Sendable (any Error, SpindleContext) -> Response?

    package internal(set) var all: [Route] = []
    private let prefix: String
    private let refusal: Refusal?

    /// Routes whose paths begin with `prefix`, and whose errors `refusal` turns into responses.
    public init(below prefix: String = "", refusal: Refusal? = nil) {
        self.prefix = prefix
        self.refusal = refusal
    }

    /// The routes as text, for example `POST /login`.
    public var descriptions: [String] { all.map(\.description) }

    public static func + (a: Routes, b: Routes) -> Routes {
        var sum = a
        sum.all += b.all
        return sum
    }

    /// - Parameters:
    ///   - isSafe: whether it is a GET that changes nothing here, so that HEAD is answered too.
    ///   - readers: the web pages of other origins that may call it, by a script.
    package mutating func on(
        _ path: String, method: HTTP.Method, _ operation: Operation = .undescribed, isSafe: Bool = false,
        readers: PageReaders = .none, use answer: @escaping Route.Answer
    ) {
        let template = PathTemplate(path, below: prefix)
        all.append(
            Route(method, template, operation, isSafe: isSafe, readers: readers, refusal: refusal, answer: answer))
    }

    package mutating func get(
        _ path: String, _ operation: Operation = .undescribed, isSafe: Bool = false, readers: PageReaders = .none,
        use answer: @escaping Route.Answer
    ) { on(path, method: .get, operation, isSafe: isSafe, readers: readers, use: answer) }
    package mutating func post(
        _ path: String, _ operation: Operation = .undescribed, readers: PageReaders = .none,
        use answer: @escaping Route.Answer
    ) { on(path, method: .post, operation, readers: readers, use: answer) }
    package mutating func put(
        _ path: String, _ operation: Operation = .undescribed, readers: PageReaders = .none,
        use answer: @escaping Route.Answer
    ) { on(path, method: .put, operation, readers: readers, use: answer) }
    package mutating func patch(
        _ path: String, _ operation: Operation = .undescribed, use answer: @escaping Route.Answer
    ) { on(path, method: .patch, operation, use: answer) }
    package mutating func delete(
        _ path: String, _ operation: Operation = .undescribed, readers: PageReaders = .none,
        use answer: @escaping Route.Answer
    ) { on(path, method: .delete, operation, readers: readers, use: answer) }
}

/// A tree of path segments, in which every path has a number.
struct SegmentTree: Sendable {
    private struct Node: Sendable {
        /// Its text's range in `texts`; empty for a parameter.
        let text: Range<Int>
        /// The number of the path that ends here.
        var path: Int?
        var firstChild: Int?
        var nextSibling: Int?

        var isParameter: Bool { text.isEmpty }
    }

    /// The texts of all segments, concatenated.
    private var texts: [UInt8] = []
    private var nodes = [Node(text: 0..<0)]
    private var pathCount = 0

    /// The number of a template's path: that of an equal path apart from parameter names, or a new one.
    mutating func insert(_ template: PathTemplate) -> Int {
        var node = 0
        for segment in template.segments { node = child(for: segment, of: node) }
        if let path = nodes[node].path { return path }
        defer { pathCount += 1 }
        nodes[node].path = pathCount
        return pathCount
    }

    private mutating func child(for segment: PathTemplate.Segment, of parent: Int) -> Int {
        let text: [UInt8] = if case .literal(let text) = segment { Array(text.utf8) } else { [] }
        var last: Int?
        var next = nodes[parent].firstChild
        while let node = next {
            if texts[nodes[node].text].elementsEqual(text) { return node }
            // The parameter is the last child, after all literals.
            if nodes[node].isParameter { break }
            last = node
            next = nodes[node].nextSibling
        }
        let made = nodes.count
        nodes.append(Node(text: texts.count..<texts.count + text.count, nextSibling: next))
        texts += text
        if let last { nodes[last].nextSibling = made } else { nodes[parent].firstChild = made }
        return made
    }

    /// The number of the path that matches `text`.
    func find(_ text: String) -> Int? { find(text.utf8.span, from: 0, below: 0) }

    private func find(_ path: Span<UInt8>, from start: Int, below parent: Int) -> Int? {
        var start = start
        while start < path.count, path[start] == UInt8(ascii: "/") { start += 1 }
        guard start < path.count else { return nodes[parent].path }
        var end = start
        while end < path.count, path[end] != UInt8(ascii: "/") { end += 1 }
        var next = nodes[parent].firstChild
        while let node = next {
            if matches(nodes[node], path, start..<end), let found = find(path, from: end, below: node) { return found }
            next = nodes[node].nextSibling
        }
        return nil
    }

    private func matches(_ node: Node, _ path: Span<UInt8>, _ segment: Range<Int>) -> Bool {
        guard !node.isParameter else { return true }
        guard node.text.count == segment.count else { return false }
        for offset in 0..<segment.count where texts[node.text.lowerBound + offset] != path[segment.lowerBound + offset]
        {
            return false
        }
        return true
    }
}

/// A path with parameters: `/user/{id}`.
struct PathTemplate: Sendable {
    enum Segment: Sendable, Hashable {
        case literal(String)
        case parameter(String)
    }

    /// The full template, with a leading slash.
    let text: String
    let segments: [Segment]
    /// The names of its parameters.
    var parameters: [String] {
        segments.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
    }

    init(_ path: String, below prefix: String = "") {
        text = path.hasPrefix("/") ? prefix + path : "\(prefix)/\(path)"
        segments = text.split(separator: "/").map { segment in
            guard segment.hasPrefix("{"), segment.hasSuffix("}") else { return .literal(String(segment)) }
            return .parameter(String(segment.dropFirst().dropLast()))
        }
    }
}

/// The values of a path's parameters, as sent: not decoded. Each is looked up when it is needed.
package struct PathParameters: Sendable {
    private let path: String
    private let template: PathTemplate

    init(path: String, template: PathTemplate) {
        self.path = path
        self.template = template
    }

    /// The value of `name`, which must be in the template.
    package func require(_ name: String) throws(HTTPRefusal) -> String {
        for (segment, text) in zip(template.segments, path.split(separator: "/")) where segment == .parameter(name) {
            return String(text)
        }
        throw HTTPRefusal(.badRequest)
    }

    /// Every name with its value, in their order.
    package var all: [(name: String, value: String)] {
        zip(template.segments, path.split(separator: "/")).compactMap { segment, text in
            guard case .parameter(let name) = segment else { return nil }
            return (name, String(text))
        }
    }
}
