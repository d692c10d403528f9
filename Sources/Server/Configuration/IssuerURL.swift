import Directory
import Text
import Values

/// The issuer's identifier (RFC 8414 §2): kept verbatim, because clients compare it character by character.
public struct IssuerURL: Sendable, Hashable, CustomStringConvertible {
    public let text: String
    /// Scheme, host and port, as browsers write them in `Origin`: the base of every endpoint.
    public let origin: String
    /// Whether browsers reach the server by https: then cookies are Secure.
    public let isSecure: Bool
    /// Without the brackets of an IPv6 address, in lower case.
    public let host: String

    /// Reads an absolute http or https URL without user information, query and fragment, whose host, port and path all
    /// clients read alike; nil for anything else.
    public init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C }), !text.contains("?"), !text.contains("#"),
            !text.contains("@"), let start = text.firstRange(of: "://")?.upperBound, let parts = URIParts(text),
            let host = parts.host, let written = parts.encodedHost, Self.isPlain(host: written.lowercased()),
            SpindleConfiguration.hasPort(text[start...]), Self.isPlain(path: text[start...].drop { $0 != "/" }),
            let origin = parts.origin
        else { return nil }
        self.text = text
        self.origin = origin
        self.isSecure = origin.hasPrefix("https://")
        self.host = host.trimmingScalars { $0 == "[" || $0 == "]" }.lowercased()
    }

    /// Whether browsers keep `host` unchanged except for letter case (WHATWG URL §3.5), and can look it up.
    private static func isPlain(host: String) -> Bool {
        let isLiteral = host.hasPrefix("[")
        if let address = IPAddress(isLiteral ? String(host.dropFirst().dropLast()) : host) {
            // An IPv4 address in IPv6 form would be rewritten.
            return address.description.contains(":") == isLiteral
        }
        guard DomainName.ascii(host) == host, HostSpelling.plain(host) == host else { return false }
        let labels = host.split(separator: ".")
        // A name that ends in a number is read as an IPv4 address.
        guard let last = labels.last, !last.allSatisfy(\.isNumber) else { return false }
        // RFC 1123 §2.1.
        return labels.allSatisfy { $0.first != "-" && $0.last != "-" }
    }

    /// Whether all clients and proxies read `path` alike.
    private static func isPlain(path: Substring) -> Bool { PageAddress("https://issuer\(path)") != nil }

    public var description: String { text }

    /// Whether the host can only be this machine, where http is no risk.
    public var isLoopback: Bool { Self.isLoopback(host) }

    /// Whether `host`, without brackets and in lower case, can only be this machine.
    static func isLoopback(_ host: String) -> Bool {
        guard let address = IPAddress(host) else { return host == "localhost" }
        return ["127.0.0.0/8", "::1/128"].contains { CIDR($0)?.contains(address) == true }
    }
}
