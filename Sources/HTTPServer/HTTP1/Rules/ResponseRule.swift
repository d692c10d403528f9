import HTTP

/// What a response must not contain (RFC 9110 §5.5): a line end in a field would start another field or response.
enum ResponseRule {
    static func isValid(_ response: Response) -> Bool {
        guard (200...599).contains(response.status.code), isValue(response.status.reasonPhrase) else { return false }
        for field in response.headers where !isValue(field.value) { return false }
        return true
    }

    /// Checks values only: the type of names makes them tokens. All bytes are looked at, because the compiler then
    /// takes many at once.
    static func isValue(_ text: String) -> Bool {
        let bytes = text.utf8.span
        var isValue = true
        for index in bytes.indices { isValue = isValue && bytes[index].isFieldValueCharacter }
        return isValue
    }
}
