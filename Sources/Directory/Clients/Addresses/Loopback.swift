extension Client {
    /// The URI that an authorization request with the redirect URI `text` may return to: a URI registered exactly so,
    /// or a registered loopback URI with any port, which the system gives a native app (RFC 8252 §7.3).
    ///
    /// Only a public client may vary the port: a confidential one runs on a server with a known port. The code is bound
    /// to `text` itself. With another port it must not be at `own`, this server's URL, because registration only
    /// checked the registered port. `own` is nil where that has been checked.
    package func returnURI(_ text: String, besides own: String?) -> RedirectURI? {
        if let registered = redirectURI(text) { return registered }
        guard may(.varyPort), let given = Loopback(text),
            redirectURIs.contains(where: { Loopback($0.text).map(given.isSame) ?? false }),
            own.map({ WebSite(of: text)?.isSameServer(asURL: $0) == false }) ?? true
        else { return nil }
        return RedirectURI(stored: text)
    }
}

/// An http URI with a loopback IP address: a name like `localhost` may resolve to another host (RFC 8252 §8.3).
private struct Loopback {
    private static let hosts = ["http://127.0.0.1", "http://[::1]"]

    let host: String
    /// The text after the port.
    let rest: Substring

    init?(_ text: String) {
        guard let host = Self.hosts.first(where: { text.hasPrefix($0) }) else { return nil }
        var rest = text.dropFirst(host.count)
        if rest.first == ":" {
            let port = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
            guard let number = UInt16(port), number > 0, port.first != "0" else { return nil }
            rest = rest.dropFirst(1 + port.count)
        }
        // Anything else would name another host, or be no valid URI.
        guard rest.isEmpty || rest.first == "/" || rest.first == "?", !rest.contains("#") else { return nil }
        self.host = host
        self.rest = rest
    }

    func isSame(_ other: Loopback) -> Bool { host == other.host && rest.utf8.elementsEqual(other.rest.utf8) }
}
