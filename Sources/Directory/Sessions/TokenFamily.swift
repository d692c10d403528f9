public import Storage
public import Values

/// One completed authorization with its code, its tokens and the sessions that they bought. OAuth keeps it.
public enum TokenFamily {
    public typealias ID = Identifier<TokenFamily>

    /// The origin of a token family: the ids of its ancestors and its own, oldest first. Each id but the first is
    /// preceded by one digit: `1` if it was got in a session that the previous family had bought, `2` if by a code.
    ///
    /// An id has 28 hexadecimal digits, and there is no separator, so paths sort the same under every collation. All
    /// descendants of F lie between `F1` and `F3`, those by its web views between `F1` and `F2`.
    public struct Path: Sendable, Hashable, CustomStringConvertible {
        /// How one family led to the next.
        public enum Step: Int, Sendable {
            /// In a session that the previous family had bought.
            case webView = 1
            /// By a code that the previous family had bought.
            case code = 2
        }

        /// The most families in one path: a longer chain of purchases has no use.
        public static let longest = 8

        public let text: String

        /// The path of a family that came from a sign-in.
        public init(_ root: ID) { text = root.text }
        package init(stored: String) { text = stored }

        private init(_ text: String) { self.text = text }

        public var description: String { text }

        private static var idLength: Int { ID.orderedLength }

        /// The number of families in it.
        public var count: Int { (text.utf8.count + 1) / (Self.idLength + 1) }
        /// Whether its family came from a sign-in, with no purchase in between.
        public var isRoot: Bool { text.utf8.count <= Self.idLength }
        /// The family that this path leads to.
        public var family: ID { ID(String(text.suffix(Self.idLength))) }

        /// The path of the previous family; nil for a root.
        public var parent: Path? { isRoot ? nil : Path(String(text.dropLast(Self.idLength + 1))) }
        /// How the previous family led to this one; nil for a root.
        public var step: Step? {
            isRoot ? nil : text.dropLast(Self.idLength).last?.wholeNumberValue.flatMap(Step.init)
        }

        /// The path of `family`, which was got in a session that this family had bought.
        public func webView(_ family: ID) -> Path { Path(text + Self.ending(family, by: .webView)) }

        /// What the path of `family` appends to the path of the family that led to it.
        public static func ending(_ family: ID, by step: Step) -> String { "\(step.rawValue)\(family)" }

        /// What follows a path in the texts of `webViews`.
        public static var webViewEnds: (low: String, high: String) { ends(.webView, .webView) }

        /// The range of paths of everything got by way of its web views.
        public var webViews: (low: String, high: String) { between(.webView, .webView) }
        /// The range of paths of all its descendants.
        public var descendants: (low: String, high: String) { between(.webView, .code) }

        private func between(_ first: Step, _ last: Step) -> (low: String, high: String) {
            let ends = Self.ends(first, last)
            return (text + ends.low, text + ends.high)
        }

        private static func ends(_ first: Step, _ last: Step) -> (low: String, high: String) {
            ("\(first.rawValue)", "\(last.rawValue + 1)")
        }

        /// Whether this family is `other` or descends from it.
        public func isWithin(_ other: Path) -> Bool { text.hasPrefix(other.text) }
    }
}

extension TokenFamily.Path: SQLBindable {
    public var sqlValue: SQLValue { .text(text) }
}

extension TokenFamily.Path: SQLReadable {
    public init(sqlValue: SQLValue) throws { self.init(stored: try String(sqlValue: sqlValue)) }
}
