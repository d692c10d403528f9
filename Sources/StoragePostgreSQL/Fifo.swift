/// A queue of two stacks: `leaving` is the older half, newest first.
struct Fifo<Element> {
    private var arriving: [Element] = []
    private var leaving: [Element] = []

    var isEmpty: Bool { leaving.isEmpty && arriving.isEmpty }
    var count: Int { leaving.count + arriving.count }
    var first: Element? { leaving.last ?? arriving.first }
    /// The oldest first.
    var elements: [Element] { leaving.reversed() + arriving }

    mutating func append(_ element: Element) { arriving.append(element) }

    /// Adds `element` before all others.
    mutating func prepend(_ element: Element) { leaving.append(element) }

    mutating func popFirst() -> Element? {
        if leaving.isEmpty {
            leaving = arriving.reversed()
            arriving.removeAll(keepingCapacity: true)
        }
        return leaving.popLast()
    }

    /// Removes and returns the first elements, as long as `isDone` holds.
    mutating func popWhile(_ isDone: (Element) -> Bool) -> [Element] {
        var popped: [Element] = []
        while let first, isDone(first), let element = popFirst() { popped.append(element) }
        return popped
    }

    /// Removes and returns the elements for which `isDone` holds, wherever they are.
    mutating func remove(where isDone: (Element) -> Bool) -> [Element] {
        let all = elements
        let done = all.filter(isDone)
        guard !done.isEmpty else { return [] }
        (arriving, leaving) = (all.filter { !isDone($0) }, [])
        return done
    }
}
