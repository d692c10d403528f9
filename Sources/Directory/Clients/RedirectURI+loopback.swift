extension Client {
    /// Where an authorization request that says `text` may return to: an address registered to the letter, or an app's own
    /// on the machine it runs on, whatever port the system gave the app this time (RFC 8252 §7.3).
    ///
    /// A public client's alone: another runs on a server, whose port is known. The code is bound to `text` as it stands.
    package func returnURI(_ text: String) -> RedirectURI? {
        if let registered = redirectURI(text) { return registered }
        guard isPublic, let given = Loopback(text),
            redirectURIs.contains(where: { Loopback($0.text).map(given.isSame) ?? false })
        else { return nil }
        return RedirectURI(stored: text)
    }
}

/// An http address on the machine itself, by its number: a name like `localhost` may lead elsewhere (RFC 8252 §8.3).
private struct Loopback {
    private static let hosts = ["http://127.0.0.1", "http://[::1]"]

    let host: String
    /// What comes behind the port.
    let rest: Substring

    init?(_ text: String) {
        guard let host = Self.hosts.first(where: { text.hasPrefix($0) }) else { return nil }
        var rest = text.dropFirst(host.count)
        if rest.first == ":" {
            let port = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
            guard let number = UInt16(port), number > 0, port.first != "0" else { return nil }
            rest = rest.dropFirst(1 + port.count)
        }
        // Anything else would make another host of it, or no address at all.
        guard rest.isEmpty || rest.first == "/" || rest.first == "?", !rest.contains("#") else { return nil }
        self.host = host
        self.rest = rest
    }

    func isSame(_ other: Loopback) -> Bool { host == other.host && rest.utf8.elementsEqual(other.rest.utf8) }
}
