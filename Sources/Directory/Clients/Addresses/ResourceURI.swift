import Text
import Values

/// The URI of an API (RFC 8707 §2). APIs compare it with their own name in different ways, so it is registered only in
/// its normal form (RFC 3986 §6.2): another spelling could be the same API to them, but another one to us.
enum ResourceURI {
    /// The normal form of `text`; nil unless it is an absolute URI without fragment and user information.
    static func normal(_ text: String) -> String? {
        guard let match = text.wholeMatch(of: /([A-Za-z][A-Za-z0-9+.\-]*):([^#?]*)(?:\?([^#]*))?/),
            let query = escaped(match.output.3 ?? "", besides: "?/:@")
        else { return nil }
        let scheme = match.output.1.lowercased()
        guard let place = scheme == "urn" ? name(match.output.2) : place(match.output.2, scheme) else { return nil }
        return "\(scheme):\(place)" + (query.isEmpty ? "" : "?\(query)")
    }

    /// The normal forms that count as one API with `normal`: a host's root has two (§6.2.3).
    static func equivalents(of normal: String) -> [String] {
        guard let match = normal.wholeMatch(of: /([a-z][a-z0-9+.\-]*:\/\/[^\/?]+)\/?(\?.*)?/) else { return [normal] }
        let (root, query) = (match.output.1, match.output.2 ?? "")
        return ["\(root)\(query)", "\(root)/\(query)"]
    }

    /// The default ports, which are left out (§6.2.3).
    private static let ports = ["http": 80, "https": 443, "ws": 80, "wss": 443]

    /// RFC 8141 §3.1: in a URN the namespace is in lower case too.
    private static func name(_ text: Substring) -> String? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        return escaped(text[colon...], besides: "/:@").map { text[..<colon].lowercased() + $0 }
    }

    private static func place(_ text: Substring, _ scheme: String) -> String? {
        guard text.hasPrefix("//") else {
            guard ports[scheme] == nil, !text.isEmpty, let path = escaped(text, besides: "/:@") else { return nil }
            return withoutDots(path)
        }
        let rest = text.dropFirst(2)
        let authority = rest.prefix { $0 != "/" }
        guard let host = authorityInNormalForm(authority, scheme),
            let path = escaped(rest[authority.endIndex...], besides: "/:@")
        else { return nil }
        return "//\(host)\(withoutDots(path))"
    }

    private static func authorityInNormalForm(_ text: Substring, _ scheme: String) -> String? {
        let colon = text.lastIndex(of: ":").flatMap { text[$0...].contains("]") ? nil : $0 }
        let written = text[..<(colon ?? text.endIndex)]
        let digits = colon.map { text[$0...].dropFirst() } ?? ""
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), digits.isEmpty || UInt16(digits) != nil else {
            return nil
        }
        let port = UInt16(digits).flatMap { ports[scheme] == Int($0) ? nil : ":\($0)" } ?? ""
        guard ports[scheme] != nil else { return escaped(written, besides: "").map { $0.lowercased() + port } }
        guard let host = HostSpelling.plain(written) else { return nil }
        return (host.contains(":") ? "[\(host)]" : host) + port
    }

    /// `text` with escapes in capitals, and only where needed (§6.2.2). Nil for characters that no URI has.
    private static func escaped(_ text: Substring, besides allowed: String) -> String? {
        var plain = ""
        var rest = text.unicodeScalars
        while let scalar = rest.popFirst() {
            if scalar == "%" {
                let digits = String(rest.prefix(2))
                guard let byte = PercentEncoding.decode(Array("%\(digits)".utf8))?.first else { return nil }
                rest = rest.dropFirst(2)
                let meant = Unicode.Scalar(byte)
                plain += meant.isASCII && isUnreserved(meant) ? String(meant) : "%\(digits.uppercased())"
            } else if scalar.isASCII {
                guard isUnreserved(scalar) || "!$&'()*+,;=\(allowed)".unicodeScalars.contains(scalar) else {
                    return nil
                }
                plain.unicodeScalars.append(scalar)
            } else {
                plain += PercentEncoding.encode(String(scalar))
            }
        }
        return plain
    }

    /// RFC 3986 §2.3: characters that are never escaped.
    private static func isUnreserved(_ scalar: Unicode.Scalar) -> Bool {
        PercentEncoding.encode(String(scalar)).utf8.count == 1
    }

    /// RFC 3986 §5.2.4, for a path that begins with a slash.
    private static func withoutDots(_ path: String) -> String {
        guard path.hasPrefix("/") else { return path }
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (place, segment) in segments.enumerated() {
            guard segment == "." || segment == ".." else {
                kept.append(segment)
                continue
            }
            if segment == "..", !kept.isEmpty { kept.removeLast() }
            if place == segments.count - 1 { kept.append("") }
        }
        return "/" + kept.joined(separator: "/")
    }
}
