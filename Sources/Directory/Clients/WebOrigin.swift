import Values

/// The origin of a web page (RFC 6454 §6.2), compared as the exact text that a browser sends.
enum WebOrigin {
    /// Whether `text` is an origin as browsers write it: https, or http to this machine. It becomes part of a
    /// Content-Security-Policy, so none of its characters may end a directive or act as a wildcard.
    static func isOne(_ text: String) -> Bool {
        guard let uri = RedirectURI(registering: text), let parts = URIParts(uri.text),
            let scheme = parts.scheme, let host = parts.encodedHost, scheme == "https" || scheme == "http",
            parts.path.isEmpty, parts.query == nil, text == text.lowercased(), isHost(host)
        else { return false }
        let port = parts.port.map { ":\($0)" } ?? ""
        let isDefaultPort = parts.port == (scheme == "https" ? 443 : 80)
        return !isDefaultPort && text == "\(scheme)://\(host)\(port)"
    }

    /// Whether `host` is a name of letters, digits, dots and hyphens, or an IPv6 address in brackets (RFC 3986 §3.2.2).
    static func isHost(_ host: String) -> Bool {
        if host.hasPrefix("["), host.hasSuffix("]") {
            return host.contains(":") && IPAddress(String(host.dropFirst().dropLast())) != nil
        }
        return !host.isEmpty
            && host.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x2E
            }
    }

    /// Whether `text` is the https URL of an image that a page may show. It becomes part of a Content-Security-Policy,
    /// so none of its characters may end a directive.
    static func isImage(_ text: String) -> Bool {
        guard RedirectURI(registering: text) != nil, text.hasPrefix("https://"),
            let host = URIParts(text)?.encodedHost
        else { return false }
        return isHost(host) && !text.contains { ";,'\"".contains($0) }
    }
}
