public import Storage
public import Values

/// One completed authorization with its code, its tokens and the sessions that they bought. OAuth keeps it.
public enum TokenFamily {
    public typealias ID = Identifier<TokenFamily>

    /// What a token family came from: the ids of its ancestors and its own, oldest first. Before each but the first
    /// stands one digit: `1` where it was got in a session that the one before had bought, `2` where it was got by a
    /// code.
    ///
    /// An id has 28 hexadecimal digits, and there is no separator, so paths sort the same under every collation: all
    /// that came from F lies between `F1` and `F3`, what came by its web views between `F1` and `F2`.
    public struct Path: Sendable, Hashable, CustomStringConvertible {
        /// How a family was got by another.
        public enum Step: Int, Sendable {
            /// In a session that the other had bought.
            case webView = 1
            /// By a code that the other had bought.
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

        /// How many families are in it.
        public var count: Int { (text.utf8.count + 1) / (Self.idLength + 1) }
        /// Whether its family came from a sign-in, with no purchase in between.
        public var isRoot: Bool { text.utf8.count <= Self.idLength }
        /// The family that it is the path of.
        public var family: ID { ID(String(text.suffix(Self.idLength))) }

        /// That of the family before; nil of a root's.
        public var parent: Path? { isRoot ? nil : Path(String(text.dropLast(Self.idLength + 1))) }
        /// How its family was got by the one before; nil of a root's.
        public var step: Step? {
            isRoot ? nil : text.dropLast(Self.idLength).last?.wholeNumberValue.flatMap(Step.init)
        }

        /// The path of `family`, which was got in a session that this one's family had bought.
        public func webView(_ family: ID) -> Path { Path(text + Self.ending(family, by: .webView)) }

        /// What the path of `family` has after that of the family it was got by.
        public static func ending(_ family: ID, by step: Step) -> String { "\(step.rawValue)\(family)" }

        /// The texts between which the paths lie of all that was got by way of its web views.
        public var webViews: (low: String, high: String) { between(.webView, .webView) }
        /// The same of all that came from it.
        public var descendants: (low: String, high: String) { between(.webView, .code) }

        private func between(_ first: Step, _ last: Step) -> (low: String, high: String) {
            ("\(text)\(first.rawValue)", "\(text)\(last.rawValue + 1)")
        }

        /// Whether its family came from that of `other`, or is it.
        public func isWithin(_ other: Path) -> Bool { text.hasPrefix(other.text) }
    }
}

extension TokenFamily.Path: SQLBindable {
    public var sqlValue: SQLValue { .text(text) }
}

extension TokenFamily.Path: SQLReadable {
    public init(sqlValue: SQLValue) throws { self.init(stored: try String(sqlValue: sqlValue)) }
}
