public import Directory

/// The single difference between an unregistered address and a registered one, which developers take long to spot. The
/// refusal page names it (`ReturnAddress+Page`).
public enum RedirectURIMismatch: String, Sendable, CaseIterable {
    case whiteSpace = "white space around it"
    case letterCase = "letter case"
    case scheme
    case port
    case trailingSlash = "the slash at its end"
    case query
    case fragment

    /// The difference between `text` and one of `registered`; nil when it differs from each in more than one way.
    ///
    /// Anyone can send a request for a client with many long addresses, so this compares bytes and splits each address
    /// once.
    public init?(_ text: String, among registered: [RedirectURI]) {
        let (given, solid) = (Parts(text), text.split(whereSeparator: \.isWhitespace).joined())
        let others = registered.map { (text: $0.text, parts: Parts($0.text)) }
        let found = Self.allCases.first { miss in
            others.contains { miss.explains(text, solid, given, $0.text, $0.parts) }
        }
        guard let found else { return nil }
        self = found
    }

    private func explains(
        _ text: String, _ solid: String, _ given: Parts, _ other: String, _ registered: Parts
    ) -> Bool {
        var given = given
        switch self {
        case .whiteSpace: return solid == other
        case .letterCase:
            return text.utf8.count == other.utf8.count && text.lowercased() == other.lowercased()
        case .scheme: given.scheme = registered.scheme
        case .port: given.port = registered.port
        case .trailingSlash:
            guard abs(given.path.utf8.count - registered.path.utf8.count) == 1,
                given.path == registered.path + "/" || given.path + "/" == registered.path
            else { return false }
            given.path = registered.path
        case .query: given.query = registered.query
        case .fragment: given.fragment = registered.fragment
        }
        return given == registered
    }

    /// The parts of a URL, split by delimiters only (RFC 3986 appendix B): the compared text may be anything.
    private struct Parts: Equatable {
        var scheme: Substring
        var host: Substring
        var port: Substring
        var path: Substring
        var query: Substring
        var fragment: Substring

        init(_ text: String) {
            var rest = Substring(text)
            fragment = Self.cut(&rest, from: "#")
            query = Self.cut(&rest, from: "?")
            let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":"))
            scheme = rest[..<(colon ?? rest.startIndex)]
            rest = rest[(colon ?? rest.startIndex)...]
            guard rest.hasPrefix("://") else {
                (host, port, path) = ("", "", rest)
                return
            }
            var authority = rest.dropFirst(3)
            path = Self.cut(&authority, from: "/")
            let mark = authority.utf8.lastIndex(of: UInt8(ascii: ":")).flatMap { mark in
                authority.utf8[mark...].dropFirst().allSatisfy { (0x30...0x39).contains($0) } ? mark : nil
            }
            host = authority[..<(mark ?? authority.endIndex)]
            port = authority[(mark ?? authority.endIndex)...]
        }

        /// Cuts off the end of `text`, from the first `mark` on, and returns it.
        private static func cut(_ text: inout Substring, from mark: Unicode.Scalar) -> Substring {
            let index = text.utf8.firstIndex(of: UInt8(ascii: mark)) ?? text.endIndex
            defer { text = text[..<index] }
            return text[index...]
        }
    }
}
