/// The name of a field (RFC 9110 §5.1): a token, compared without regard to case.
public struct FieldName: Hashable, Sendable, CustomStringConvertible {
    /// An index into the table of known names, so that known names are compared as numbers.
    private let index: UInt8
    private let other: Other?

    private final class Other: Sendable {
        let text: String
        let folded: String

        init(_ text: String) {
            self.text = text
            folded = text.lowercased()
        }
    }

    /// Nil when `text` is no token (RFC 9110 §5.6.2).
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isTokenCharacter) else { return nil }
        self.init(checked: text)
    }

    /// The name in `bytes`, which must be a token.
    public init(received bytes: borrowing Span<UInt8>) {
        index = KnownFieldNames.shared.index(of: bytes)
        other =
            index == KnownFieldNames.none
            ? Other(bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }) : nil
    }

    /// The name in `text`, which must be a token.
    init(checked text: String) { self.init(received: text.utf8.span) }

    /// Whether it is in the table of known names.
    public var isKnown: Bool { index != KnownFieldNames.none }

    /// The name's bit in a `KnownFieldNameSet`; 0 for a name that is not known.
    fileprivate var bit: UInt64 { isKnown ? 1 << UInt64(index) : 0 }

    /// The spelling for an HTTP/1.1 line.
    public var text: String { other?.text ?? KnownFieldNames.texts[Int(index)] }

    /// The name in lower case, if it is in the table of known names. Its bytes never move.
    public var knownFolded: StaticString? { isKnown ? KnownFieldNames.folded[Int(index)] : nil }
    /// The name in lower case, if it is not in the table of known names.
    public var otherFolded: String? { other?.folded }

    public static func == (a: FieldName, b: FieldName) -> Bool {
        a.index == b.index && (a.index != KnownFieldNames.none || a.other?.folded == b.other?.folded)
    }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(index)
        if let other { hasher.combine(other.folded) }
    }
    public var description: String { text }
}

/// A set of names of the table of known names, as a bit for each.
public struct KnownFieldNameSet: Sendable, ExpressibleByArrayLiteral {
    private let bits: UInt64

    public init(arrayLiteral names: FieldName...) { bits = names.reduce(0) { $0 | $1.bit } }

    public func contains(_ name: FieldName) -> Bool { bits & name.bit != 0 }
}

extension UInt8 {
    /// A character of a token (RFC 9110 §5.6.2).
    public var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"),
            UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"),
            UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
