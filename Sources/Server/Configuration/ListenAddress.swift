import Values

/// A host and a port to listen at: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// Without the brackets of an IPv6 address.
    public var host: String
    public var port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `host:port`; nil for anything else.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let host = Self.host(text[..<colon]) else { return nil }
        let digits = text[text.index(after: colon)...]
        guard let port = UInt16(digits), port > 0, String(port) == digits else { return nil }
        self.init(host: host, port: Int(port))
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether one address also takes the other's connections, or cannot be opened beside it.
    func overlaps(_ other: ListenAddress) -> Bool {
        let hosts = [host, other.host].map { IPAddress($0)?.description ?? $0.lowercased() }
        // A name may be an IPv4 address. `::` accepts IPv4 connections too; `0.0.0.0` accepts no IPv6.
        let overlap = hosts[0] == hosts[1] || hosts.contains("::")
        let overlapInIPv4 = hosts.contains("0.0.0.0") && !hosts.contains { $0.contains(":") }
        return port == other.port && (overlap || overlapInIPv4)
    }

    private static func host(_ text: Substring) -> String? {
        if text.hasPrefix("["), text.hasSuffix("]") {
            let address = text.dropFirst().dropLast()
            let isAddress = address.contains(":") && address.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
            return isAddress ? String(address) : nil
        }
        let isName = !text.isEmpty && text.utf8.allSatisfy { $0.isLetterOrDigit || $0 == 0x2D || $0 == 0x2E }
        return isName ? String(text) : nil
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }
}
