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
