import HTTP

/// The forms of a request target (RFC 9112 §3.2).
enum TargetRule {
    /// RFC 3986 §3.3.
    private static let path = ByteSet { $0.isUnreserved || "!$&'()*+,;=:@/%".utf8.contains($0) }
    /// RFC 3986 §3.4, and the characters that browsers leave as they are (URL Standard, query percent-encode set).
    private static let query = ByteSet { path.contains($0) || "?[]{}|\\^`".utf8.contains($0) }

    /// The requested resource. `authority` is the host of an absolute target.
    struct Parsed {
        var target: Target
        var authority: Range<Int>?
    }

    static func parse(_ bytes: borrowing Span<UInt8>, method: Method) throws(Refusal) -> Parsed {
        if bytes[0] == UInt8(ascii: "/") { return Parsed(target: try origin(bytes.text), authority: nil) }
        if bytes.equals("*"), method == .options { return Parsed(target: Target("*"), authority: nil) }
        return try absolute(bytes)
    }

    /// RFC 9112 §3.2.1. `text` begins with a slash.
    static func origin(_ text: String) throws(Refusal) -> Target {
        let (bytes, path, query) = (text.utf8.span, path, query)
        let mark = bytes.firstIndex(of: UInt8(ascii: "?"))
        let pathEnd = mark ?? bytes.count
        for index in 0..<pathEnd where !path.contains(bytes[index]) { throw .badRequest("malformed path") }
        for index in pathEnd..<bytes.count where !query.contains(bytes[index]) { throw .badRequest("malformed query") }
        return Target(text, queryMark: mark)
    }

    /// RFC 9112 §3.2.2.
    private static func absolute(_ bytes: borrowing Span<UInt8>) throws(Refusal) -> Parsed {
        guard let scheme = schemeLength(bytes) else { throw .badRequest("malformed target") }
        var end = scheme
        while end < bytes.count, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?") { end += 1 }
        guard HostRule.isValid(bytes.extracting(scheme..<end)) else { throw .badRequest("malformed authority") }
        let rest = bytes.extracting(end...)
        guard rest.count > 0 else { return Parsed(target: Target("/"), authority: scheme..<end) }
        let origin = try origin(rest[0] == UInt8(ascii: "?") ? "/" + rest.text : rest.text)
        return Parsed(target: origin, authority: scheme..<end)
    }

    /// The length of `http://` or `https://`.
    private static func schemeLength(_ bytes: borrowing Span<UInt8>) -> Int? {
        if bytes.count > 7, bytes.extracting(0..<7).equalsFolded("http://") { return 7 }
        if bytes.count > 8, bytes.extracting(0..<8).equalsFolded("https://") { return 8 }
        return nil
    }
}

extension UInt8 {
    /// RFC 3986 §2.3.
    var isUnreserved: Bool {
        isDigit || folded &- 0x61 < 26 || self == 0x2D || self == 0x2E || self == 0x5F || self == 0x7E
    }
}
