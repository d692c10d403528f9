/// Why a text is not a template, and where.
public struct MustacheFault: Error, Sendable, Hashable {
    public enum Problem: Sendable, Hashable {
        case sectionNotClosed(String)
        /// The tag closes a section that is not the open one.
        case sectionNotOpen(String)
        /// A tag without its end, without a name, or with more than a name in it.
        case malformedTag
        /// Partials, blocks, delimiters and pragmas.
        case unsupportedTag
    }

    public let problem: Problem
    /// From 1.
    public let line: Int
    /// From 1, in code points.
    public let column: Int
}

extension MustacheFault: CustomStringConvertible {
    public var description: String { "\(problem) in line \(line), column \(column)" }
}

extension MustacheFault.Problem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .sectionNotClosed(let name): "the section “\(name)” is not closed"
        case .sectionNotOpen(let name): "the section “\(name)” is closed, but it is not the one that is open"
        case .malformedTag: "a tag is not “{{”, a name and “}}”"
        case .unsupportedTag: "a tag is of a kind that is not supported"
        }
    }
}
