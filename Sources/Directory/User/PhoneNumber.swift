public import Storage

/// A telephone number as ITU-T E.164 has it: `+`, and 7 to 15 digits that begin with a country code.
public struct PhoneNumber: Sendable, Hashable {
    public let text: String

    /// The longest text that is read: a number with a sign between any two digits is shorter.
    private static let longestInput = 40

    /// Reads a number as users type it: with `+` or `00` before the country code, and with spaces, hyphens and periods
    /// between digits. A number without a country code is refused, because it could belong to two countries.
    public init?(_ input: String) {
        guard input.utf8.count <= Self.longestInput else { return nil }
        var digits = ""
        var isInternational = false
        var last: Unicode.Scalar?
        for scalar in input.unicodeScalars {
            switch scalar {
            case "0"..."9": digits.unicodeScalars.append(scalar)
            case "+" where digits.isEmpty && !isInternational: isInternational = true
            // Includes no-break spaces, which pasted text may contain.
            case " ", "\u{A0}", "\u{202F}": break
            case "-", ".":
                guard let last, "0"..."9" ~= last else { return nil }
            default: return nil
            }
            last = scalar
        }
        if !isInternational, digits.hasPrefix("00") {
            digits.removeFirst(2)
            isInternational = true
        }
        // No country code begins with 0.
        guard isInternational, (7...15).contains(digits.utf8.count), !digits.hasPrefix("0") else { return nil }
        text = "+" + digits
    }

    /// The number with its middle left out: enough for a reader who knows it.
    public var veiled: String { "\(text.prefix(3))…\(text.suffix(2))" }
}

extension PhoneNumber: SQLBindable {
    public var sqlValue: SQLValue { .text(text) }
}
