/// A statement and its bound values. An interpolated value is bound, never spliced into the text.
///
/// Written in the subset that SQLite and PostgreSQL both accept; see docs/portable-sql.md.
public struct SQL: Sendable, ExpressibleByStringInterpolation {
    /// The text with `$1 … $n` for the bound values.
    public let text: String
    public let bindings: [SQLValue]

    public init(stringLiteral text: String) {
        self.text = text
        self.bindings = []
    }

    public init(stringInterpolation: StringInterpolation) {
        self.text = stringInterpolation.text
        self.bindings = stringInterpolation.bindings
    }

    /// A statement of a migration file, which binds nothing.
    public init(script text: String) {
        self.text = text
        self.bindings = []
    }

    /// A list of column names, written once beside the table's owner. The one thing that is spliced: a literal.
    public struct Columns: Sendable, ExpressibleByStringLiteral {
        let text: StaticString
        public init(stringLiteral text: StaticString) { self.text = text }
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        @usableFromInline var text = ""
        @usableFromInline var bindings: [SQLValue] = []

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 3)
            bindings.reserveCapacity(interpolationCount)
        }

        public mutating func appendLiteral(_ literal: String) { text += literal }

        @inlinable
        public mutating func appendInterpolation(_ value: some SQLBindable) {
            bindings.append(value.sqlValue)
            text += "$\(bindings.count)"
        }

        @inlinable
        public mutating func appendInterpolation<Value: SQLBindable>(_ value: Value?) {
            bindings.append(value?.sqlValue ?? .null)
            text += "$\(bindings.count)"
        }

        public mutating func appendInterpolation(_ columns: Columns) { text += "\(columns.text)" }
    }
}
