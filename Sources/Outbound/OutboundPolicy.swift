public import Values

/// Which servers Spindle may talk to. Merchants choose the URLs, so the default is the public internet, over TLS only.
public struct OutboundPolicy: Sendable {
    /// Private ranges that may be requested nevertheless, over http too (`SPINDLE_OUTBOUND_ALLOW_PRIVATE`).
    ///
    /// This weakens security: a client that may register a URL can make Spindle request any machine in these ranges.
    /// Allow single addresses, not networks.
    public let allowedPrivateRanges: [CIDR]

    /// From the look-up of the host name to the last byte of the response.
    let longestWait: Duration
    /// Five seconds, by default.
    public static let longestWait: Duration = .seconds(5)
    static let longestConnecting: Duration = .seconds(2)

    public init(allowedPrivateRanges: [CIDR] = [], longestWait: Duration = OutboundPolicy.longestWait) {
        self.allowedPrivateRanges = allowedPrivateRanges
        self.longestWait = longestWait
    }

    /// For addresses that the operator configured: any network is allowed.
    public static func toOperators(longestWait: Duration = OutboundPolicy.longestWait) -> OutboundPolicy {
        let everywhere = ["0.0.0.0/0", "::/0"].compactMap { CIDR($0) }
        return OutboundPolicy(allowedPrivateRanges: everywhere, longestWait: longestWait)
    }

    /// Whether `url` is allowed, as far as is known without looking up its host.
    public func check(_ url: String) throws(OutboundError) {
        let target = try OutboundTarget(url)
        // Includes addresses written as numbers: resolvers read `2130706433` and `0x7f.1` as 127.0.0.1.
        if let address = HostSpelling.plain(target.host).flatMap({ IPAddress($0) }) ?? IPAddress(target.host) {
            try check([address], of: target)
        } else if !target.isEncrypted, allowedPrivateRanges.isEmpty {
            throw .unencrypted
        }
    }

    /// Throws unless all of a host's addresses are allowed, because the host's owner chooses which one is used.
    func check(_ addresses: [IPAddress], of target: OutboundTarget) throws(OutboundError) {
        guard !addresses.isEmpty else { throw .unknownHost }
        guard target.isEncrypted || addresses.allSatisfy(isAllowed) else { throw .unencrypted }
        guard addresses.allSatisfy(mayAsk) else { throw .privateAddress }
    }

    /// Whether `address` may be requested over TLS.
    func mayAsk(_ address: IPAddress) -> Bool { address.isPublic || isAllowed(address) }

    private func isAllowed(_ address: IPAddress) -> Bool { allowedPrivateRanges.contains { $0.contains(address) } }
}
