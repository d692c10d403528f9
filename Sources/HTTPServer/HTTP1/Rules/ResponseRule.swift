import HTTP

/// What a response must not contain (RFC 9110 §5.5): a line end in a field would start another field or response.
enum ResponseRule {
    static func isValid(_ response: Response) -> Bool {
        isStatus(response.status) && isValue(response.status.reasonPhrase.utf8.span)
            && areValues(of: response.headers)
    }

    static func areValues(of fields: Fields) -> Bool { fields.allSatisfy { isValue($0.value.utf8.span) } }

    static func isStatus(_ status: Status) -> Bool { (200...599).contains(status.code) }

    /// Whether `bytes` may be in a field's value: visible characters, blanks, tabs, and bytes beyond ASCII. Names are
    /// checked by their type, which makes them tokens. Written so that the compiler can vectorize it.
    static func isValue(_ bytes: borrowing Span<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            var forbidden: UInt8 = 0
            unsafe bytes.forEach { byte in
                let isControl: UInt8 = byte < 0x20 ? 1 : 0
                let isTab: UInt8 = byte == 0x09 ? 1 : 0
                let isDelete: UInt8 = byte == 0x7F ? 1 : 0
                forbidden |= isControl & ~isTab | isDelete
            }
            return forbidden == 0
        }
    }
}
