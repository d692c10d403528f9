/// A statement and its bound values. Interpolated values are bound, never spliced into the text.
///
/// Written in the subset of SQL that SQLite and PostgreSQL both accept; see docs/portable-sql.md.
public struct SQL: Sendable, ExpressibleByStringInterpolation {
    /// The parts of a statement, in the order of its text.
    public enum Part: Sendable {
        /// Text in the program itself, identified by its address.
        case literal(StaticString)
        /// Text made at run time.
        case text(String)
        case value(SQLValue)
    }

    public let parts: [Part]
    public let shape: Shape

    public init(stringLiteral text: StaticString) {
        parts = [.literal(text)]
        shape = Shape(of: text)
    }

    public init(stringInterpolation: StringInterpolation) {
        parts = stringInterpolation.parts
        shape = stringInterpolation.shape
    }

    /// A statement of a migration file, which binds nothing.
    public init(script text: String) {
        parts = [.text(text)]
        shape = .ofRunTimeText
    }

    /// The condition that always holds.
    public static let always: SQL = "1 = 1"

    /// The text with `$1 … $n` for the bound values.
    public var text: String {
        var text = ""
        var count = 0
        for part in parts {
            switch part {
            case .literal(let literal): literal.withUTF8Buffer { text += String(decoding: $0, as: UTF8.self) }
            case .text(let piece): text += piece
            case .value:
                count += 1
                text += "$\(count)"
            }
        }
        return text
    }

    /// The values for `$1 … $n`.
    public var bindings: [SQLValue] {
        parts.compactMap { part in if case .value(let value) = part { value } else { nil } }
    }

    /// A list of column names, written once beside the table's owner. It may be spliced because it is a literal.
    public struct Columns: Sendable, ExpressibleByStringLiteral {
        let text: StaticString
        public init(stringLiteral text: StaticString) { self.text = text }
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        // Not String, because the address of a literal identifies its statement.
        public typealias StringLiteralType = StaticString

        @usableFromInline var parts: [Part] = []
        @usableFromInline var shape = Shape()

        public init(literalCapacity: Int, interpolationCount: Int) {
            parts.reserveCapacity(interpolationCount * 2 + 1)
        }

        @inlinable
        public mutating func appendLiteral(_ literal: StaticString) {
            parts.append(.literal(literal))
            shape.add(literal)
        }

        /// Appends text made at run time. A statement with such text is not kept prepared.
        @_disfavoredOverload
        public mutating func appendLiteral(_ text: String) {
            parts.append(.text(text))
            shape = .ofRunTimeText
        }

        @inlinable
        public mutating func appendInterpolation(_ value: some SQLBindable) { append(value.sqlValue) }

        @inlinable
        public mutating func appendInterpolation<Value: SQLBindable>(_ value: Value?) {
            append(value?.sqlValue ?? .null)
        }

        public mutating func appendInterpolation(_ columns: Columns) { appendLiteral(columns.text) }

        /// Appends a piece of a statement with its values.
        public mutating func appendInterpolation(_ piece: SQL) {
            for part in piece.parts {
                switch part {
                case .literal(let text): appendLiteral(text)
                case .text(let text): appendLiteral(text)
                case .value(let value): append(value)
                }
            }
        }

        /// Appends `values` with commas between them. There must be one: neither engine takes an empty list.
        public mutating func appendInterpolation(list values: [some SQLBindable]) {
            for (index, value) in values.enumerated() {
                if index > 0 { appendLiteral(", ") }
                append(value.sqlValue)
            }
        }

        @inlinable
        mutating func append(_ value: SQLValue) {
            parts.append(.value(value))
            shape.addValue()
        }
    }
}

extension SQL {
    /// Identifies a statement without reading its text: by the addresses of its literals and the positions of its
    /// values.
    ///
    /// Two statements may have the same shape: `hasText(of:)` decides.
    public struct Shape: Sendable, Hashable {
        @usableFromInline var bits: UInt

        /// The shape of every statement that contains text made at run time.
        public static let ofRunTimeText = Shape(bits: 0)

        @inlinable
        init() { bits = 0x51 }

        @inlinable
        init(bits: UInt) { self.bits = bits }

        @inlinable
        init(of literal: StaticString) {
            self.init()
            add(literal)
        }

        @inlinable
        mutating func add(_ literal: StaticString) { mix(literal.place) }

        @inlinable
        mutating func addValue() { mix(1) }

        @inlinable
        mutating func mix(_ number: UInt) {
            guard bits != 0 else { return }
            let product = (bits ^ number) &* 0x9E37_79B9_7F4A_7C15
            // Zero is `ofRunTimeText`.
            bits = (product ^ product >> 31) | 1
        }
    }

    /// The statement without its values, for comparisons.
    public var skeleton: [Part] {
        parts.map { part in if case .value = part { .value(.null) } else { part } }
    }

    /// Whether the text is that of `skeleton`, literal by literal.
    public func hasText(of skeleton: [Part]) -> Bool {
        guard parts.count == skeleton.count else { return false }
        for index in parts.indices {
            switch (parts[index], skeleton[index]) {
            case (.value, .value): continue
            case (.literal(let one), .literal(let other)):
                guard one.isSame(as: other) else { return false }
            default: return false
            }
        }
        return true
    }
}

extension StaticString {
    /// The address of its bytes; for a single scalar without an address, the scalar itself.
    @inlinable var place: UInt {
        hasPointerRepresentation ? UInt(bitPattern: utf8Start) : UInt(unicodeScalar.value)
    }

    fileprivate func isSame(as other: StaticString) -> Bool {
        guard place == other.place, hasPointerRepresentation == other.hasPointerRepresentation else { return false }
        return !hasPointerRepresentation || utf8CodeUnitCount == other.utf8CodeUnitCount
    }
}
