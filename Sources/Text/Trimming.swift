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

extension StringProtocol {
    /// Without the scalars at both ends for which `isPadding` holds. A combining mark after a space stays.
    public func trimmingScalars(while isPadding: (Unicode.Scalar) -> Bool) -> String {
        var inside = String.UnicodeScalarView()
        inside.append(contentsOf: unicodeScalars.trimming(while: isPadding))
        return String(inside)
    }
}

extension Unicode.Scalar {
    /// White space of any kind (Unicode's property White_Space): spaces, tabs and ends of lines.
    public var isWhiteSpace: Bool { properties.isWhitespace }

    /// White space within a line: tabs and spaces of any width, U+200B among them, which pasted text may bring and
    /// which is no White_Space.
    public var isBlank: Bool {
        self == "\t" || self == "\u{200B}" || properties.generalCategory == .spaceSeparator
    }
}
