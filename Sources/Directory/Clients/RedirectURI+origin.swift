import Values

extension RedirectURI {
    package var isOfWeb: Bool { text.hasPrefix("https://") || text.hasPrefix("http://") }

    /// The origin of a page at this address, as browsers write it (RFC 6454 §6.2).
    public var origin: String? {
        guard isOfWeb, let parts = URIParts(text), let scheme = parts.scheme, let host = parts.encodedHost
        else { return nil }
        let port = parts.port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" } ?? ""
        return "\(scheme)://\(host)\(port)".lowercased()
    }
}
