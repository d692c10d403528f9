import Glibc

/// An IP address of either family. An IPv4 address written as IPv6 (`::ffff:192.0.2.1`) counts as IPv4.
public struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// Four or sixteen bytes.
    let bytes: [UInt8]

    public init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes.starts(with: Self.mapped) ? Array(bytes.dropFirst(12)) : bytes
    }

    /// Reads `192.0.2.1` or `2001:db8::1`: four decimal numbers, and no zone, brackets or port.
    public init?(_ text: String) {
        // C would stop at the first NUL and ignore the rest.
        guard !text.utf8.contains(0) else { return nil }
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(bytes: withUnsafeBytes(of: v4) { Array($0) })
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            self.init(bytes: withUnsafeBytes(of: v6) { Array($0) })
        } else {
            return nil
        }
    }

    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil else {
            return ""
        }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The network of one subscriber: an IPv4 address itself, including one that came through NAT64, or the /64 of an
    /// IPv6 address (RFC 6177).
    public var subscriber: String {
        if let inner = translated { return inner.description }
        guard bytes.count == 16 else { return description }
        let network = IPAddress(bytes: bytes.prefix(8) + [UInt8](repeating: 0, count: 8))
        return network.map { "\($0)/64" } ?? description
    }

    /// The network around it, which names no single customer: an IPv4 /24, or the /48 of an IPv6 address.
    public var network: String {
        let (kept, bits) = bytes.count == 4 ? (3, 24) : (6, 48)
        let rest = [UInt8](repeating: 0, count: bytes.count - kept)
        return IPAddress(bytes: bytes.prefix(kept) + rest).map { "\($0)/\(bits)" } ?? ""
    }

    /// The likely network of one site (RFC 6177 §2): the /48 around `subscriber`; nil for IPv4. A site can send from
    /// 65,536 subscribers' networks.
    public static func site(of subscriber: String) -> String? {
        guard let address = IPAddress(String(subscriber.prefix { $0 != "/" })), address.bytes.count == 16 else {
            return nil
        }
        let network = IPAddress(bytes: address.bytes.prefix(6) + [UInt8](repeating: 0, count: 10))
        return network.map { "\($0)/48" }
    }

    /// RFC 4291 §2.5.5.2.
    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
}

extension IPAddress {
    /// Whether it may belong to a machine on the public internet: in none of IANA's special-purpose ranges (RFC 6890).
    public var isPublic: Bool {
        guard bytes.count == 16 else { return !Self.special.contains { $0.contains(self) } }
        // RFC 6052 §3.1: with NAT64 the address is as public as the IPv4 address inside it.
        if let inner = translated { return inner.isPublic }
        return Self.globalUnicast.contains(self) && !Self.special.contains { $0.contains(self) }
    }

    /// The IPv4 address in one of NAT64's well-known prefix (RFC 6052 §2.1).
    fileprivate var translated: IPAddress? {
        bytes.count == 16 && Self.nat64.contains(self) ? IPAddress(bytes: Array(bytes.suffix(4))) : nil
    }

    private static let nat64 = CIDR(literal: "64:ff9b::/96")
    private static let globalUnicast = CIDR(literal: "2000::/3")
    private static let special: [CIDR] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        // Within IPv6 global unicast: protocol assignments with Teredo, documentation, 6to4, documentation.
        "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
    ].map(CIDR.init(literal:))
}
