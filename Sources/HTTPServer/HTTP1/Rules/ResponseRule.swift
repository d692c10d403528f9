import HTTP

/// What an answer must not hold (RFC 9110 §5.5): a line's end in a field would be another field, or another answer.
enum ResponseRule {
    static func isValid(_ response: Response) -> Bool {
        guard (200...599).contains(response.status.code), isValue(response.status.reasonPhrase) else { return false }
        for field in response.headers where !isValue(field.value) { return false }
        return true
    }

    /// Names are tokens by their type.
    static func isValue(_ text: String) -> Bool {
        for byte in text.utf8 where !byte.isFieldValueCharacter { return false }
        return true
    }
}
