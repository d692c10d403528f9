extension BidirectionalCollection {
    /// Without the elements at both ends for which `isPadding` holds. The elements of a text are characters: a space
    /// with a combining mark on it is one.
    public func trimming(while isPadding: (Element) -> Bool) -> SubSequence {
        drop(while: isPadding).trimmingSuffix(while: isPadding)
    }

    /// Without the elements at the end for which `isPadding` holds.
    public func trimmingSuffix(while isPadding: (Element) -> Bool) -> SubSequence {
        var end = endIndex
        while end > startIndex {
            let last = index(before: end)
            guard isPadding(self[last]) else { break }
            end = last
        }
        return self[..<end]
    }
}
