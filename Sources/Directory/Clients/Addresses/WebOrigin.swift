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

/// The server that a browser asks for a URL, however the URL is spelled.
package struct WebSite: Sendable, Hashable {
    package let scheme: String
    package let host: String
    package let port: UInt16

    /// Nil for schemes other than the web's. Browsers treat backslashes as slashes, and accept any number of them
    /// (WHATWG URL §4.4).
    package init?(of text: String) {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        guard scheme == "https" || scheme == "http" else { return nil }
        let rest = text.dropFirst(scheme.count + 1).drop { $0 == "/" || $0 == "\\" }
        let authority = rest.prefix { !"/\\?#".contains($0) }
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
        let colon = place.lastIndex(of: ":").flatMap { place[$0...].contains("]") ? nil : $0 }
        guard let host = HostSpelling.plain(place[..<(colon ?? place.endIndex)]) else { return nil }
        let written = colon.map { place[$0...].dropFirst() } ?? ""
        guard let port = written.isEmpty ? (scheme == "https" ? 443 : 80) : UInt16(written) else { return nil }
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// Whether both are one server, by http or https: a server usually has both, at ports 80 and 443.
    package func isSameServer(as other: WebSite) -> Bool {
        host == other.host && (port == other.port || isAtUsualPort && other.isAtUsualPort)
    }

    /// As above, for the server of the URL `text`.
    func isSameServer(asURL text: String) -> Bool { WebSite(of: text).map(isSameServer) ?? true }

    private var isAtUsualPort: Bool { port == 80 || port == 443 }
}
