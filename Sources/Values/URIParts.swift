import FoundationEssentials
import InternationalText
import Text

/// The parts of a URI (RFC 3986). The only place in this program that uses Foundation, for its parser.
public struct URIParts: Sendable {
    /// In lower case.
    public let scheme: String?
    public let user: String?
    public let password: String?
    /// Without percent-encoding; an `xn--` name is decoded (RFC 5891). IPv6 addresses keep their brackets.
    public let host: String?
    /// As it is written.
    public let encodedHost: String?
    public let port: Int?
    public let path: String
    public let query: String?
    public let fragment: String?
    /// The pairs of the query, in its order.
    public let queryItems: [(name: String, value: String?)]

    /// Nil for a text that is no URI, or whose host has characters that no host has.
    public init?(_ text: String) {
        guard let parts = URLComponents(string: text) else { return nil }
        scheme = parts.scheme?.lowercased()
        user = parts.user
        password = parts.password
        encodedHost = parts.encodedHost
        port = parts.port
        path = parts.path
        query = parts.query
        fragment = parts.fragment
        queryItems = (parts.queryItems ?? []).map { ($0.name, $0.value) }
        guard let written = parts.encodedHost else {
            host = nil
            return
        }
        // The parser would escape invalid characters, as it does in a path.
        guard Self.isWritten(written, in: text), let read = Self.host(written, parts) else { return nil }
        host = read
    }

    private static func isWritten(_ host: String, in text: String) -> Bool {
        guard let start = text.firstRange(of: "//")?.upperBound else { return false }
        let authority = text[start...].prefix { !"/?#".contains($0) }
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
        return place == host || place.hasPrefix(host + ":")
    }

    private static func host(_ written: String, _ parts: URLComponents) -> String? {
        guard !written.contains("%"), written.lowercased().contains("xn--") else { return parts.host }
        return HostName.unicode(written)
    }
}

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
