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
