/// A range of IP addresses: `10.0.0.0/8`, `2001:db8::/32`, or a single address.
public struct CIDR: Sendable, Hashable, CustomStringConvertible {
    public let address: IPAddress
    /// How many leading bits of `address` count.
    public let prefix: Int

    /// Reads an address and, after a slash, how many of its bits count. Nil when another bit is set: the writer of
    /// `10.0.0.1/8` means one machine, but the range has sixteen million.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let first = parts.first, let address = IPAddress(first) else { return nil }
        let bits = address.bytes.count * 8
        var prefix = bits
        if parts.count == 2 {
            guard let number = Int(parts[1]), String(number) == parts[1] else { return nil }
            // `::ffff:10.0.0.0/104` counts the bits of the IPv6 form, whose first 96 only mark it as IPv4.
            prefix = bits == 32 && first.contains(":") ? number - 96 : number
        }
        guard (0...bits).contains(prefix), address == Self.masked(address, prefix) else { return nil }
        self.address = address
        self.prefix = prefix
    }

    /// A range from our own source code.
    init(literal text: String) {
        guard let range = CIDR(text) else { preconditionFailure("not a range: \(text)") }
        self = range
    }

    public var description: String { "\(address)/\(prefix)" }

    /// Whether `other` is in the range. An address of the other family never is.
    public func contains(_ other: IPAddress) -> Bool {
        other.bytes.count == address.bytes.count && Self.masked(other, prefix) == address
    }

    private static func masked(_ address: IPAddress, _ prefix: Int) -> IPAddress? {
        let bytes = address.bytes.enumerated().map { index, byte in
            let bits = max(0, min(8, prefix - index * 8))
            return byte & UInt8(truncatingIfNeeded: 0xFF00 >> bits)
        }
        return IPAddress(bytes: bytes)
    }
}
