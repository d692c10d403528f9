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

    /// Reads an absolute http or https URL without user, query and fragment; nil for anything else.
    public init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C }), !text.contains("?"), !text.contains("#"),
            !text.contains("@"), let parts = URIParts(text),
            let host = parts.host, !host.isEmpty, text.contains("://"), let origin = parts.origin
        else { return nil }
        self.text = text
        self.origin = origin
        self.isSecure = origin.hasPrefix("https://")
        self.host = host.trimmingScalars { $0 == "[" || $0 == "]" }.lowercased()
    }

    public var description: String { text }

    /// Whether the host can only be this machine, where http is no risk.
    public var isLoopback: Bool {
        guard let address = IPAddress(host) else { return host == "localhost" }
        return ["127.0.0.0/8", "::1/128"].contains { CIDR($0)?.contains(address) == true }
    }
}
