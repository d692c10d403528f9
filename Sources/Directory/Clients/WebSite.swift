import Values

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
