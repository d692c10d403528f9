extension URIParts {
    /// The origin of a web page at this URI, as browsers write it (RFC 6454 §6.2): in lower case, without the scheme's
    /// own port, and an IPv6 address in its shortest form. Nil when it is no http or https URL with a host.
    public var origin: String? {
        guard let scheme, scheme == "https" || scheme == "http", let encodedHost, !encodedHost.isEmpty else {
            return nil
        }
        let port = port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" } ?? ""
        return "\(scheme)://\(Self.shortest(encodedHost.lowercased()))\(port)"
    }

    private static func shortest(_ host: String) -> String {
        guard host.hasPrefix("["), host.hasSuffix("]"), let address = IPAddress(String(host.dropFirst().dropLast())),
            address.bytes.count == 16
        else { return host }
        return "[\(address)]"
    }
}
