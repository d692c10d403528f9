public import Storage

/// An e-mail address as a user name: trimmed, in lower case, with everything else left as it is (`+` aliases too).
public struct EmailAddress: Sendable, Hashable {
    public let text: String

    /// Nil unless it is `local@domain` of at most 254 bytes without white space or control characters.
    public init?(_ input: String) {
        let scalars = input.unicodeScalars
        let trimmed = String(
            String.UnicodeScalarView(
                scalars.drop { $0.properties.isWhitespace }.reversed().drop { $0.properties.isWhitespace }.reversed()))
        let parts = trimmed.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty, trimmed.utf8.count <= 254,
            !trimmed.unicodeScalars.contains(where: {
                $0.properties.isWhitespace || $0.value < 0x20 || $0.value == 0x7F || $0 == "<" || $0 == ">" || $0 == ","
            })
        else { return nil }
        text = trimmed.lowercased()
    }
}

extension EmailAddress: SQLBindable {
    public var sqlValue: SQLValue { .text(text) }
}
