public import Values

/// Whom Spindle may talk to. Addresses come from merchants, so by default: the open internet, and over TLS only.
public struct OutboundPolicy: Sendable {
    /// Ranges that are not of the open internet and yet may be asked, over http too (`SPINDLE_OUTBOUND_ALLOW_PRIVATE`).
    ///
    /// Weakens: whoever may register an address can then make Spindle ask every machine in these ranges. Name the one
    /// that is meant, not a network.
    public let allowedPrivateRanges: [CIDR]

    /// From the host name to the last byte of the answer.
    let longestWait: Duration
    /// Five seconds, unless said.
    public static let longestWait: Duration = .seconds(5)
    static let longestConnecting: Duration = .seconds(2)

    public init(allowedPrivateRanges: [CIDR] = [], longestWait: Duration = OutboundPolicy.longestWait) {
        self.allowedPrivateRanges = allowedPrivateRanges
        self.longestWait = longestWait
    }

    /// Whether `url` could be asked at all, as far as that shows without its host being looked up.
    public func check(_ url: String) throws(OutboundError) {
        let target = try OutboundTarget(url)
        // Also one by numbers: resolvers read `2130706433` and `0x7f.1` as 127.0.0.1.
        if let address = HostSpelling.plain(target.host).flatMap({ IPAddress($0) }) ?? IPAddress(target.host) {
            try check([address], of: target)
        } else if !target.isEncrypted, allowedPrivateRanges.isEmpty {
            throw .unencrypted
        }
    }

    /// Refuses unless every one of a host's addresses may be asked: which of them answers is the host's own choice.
    func check(_ addresses: [IPAddress], of target: OutboundTarget) throws(OutboundError) {
        guard !addresses.isEmpty else { throw .unknownHost }
        guard target.isEncrypted || addresses.allSatisfy(isAllowed) else { throw .unencrypted }
        guard addresses.allSatisfy(mayAsk) else { throw .privateAddress }
    }

    /// Whether `address` may be asked over TLS.
    func mayAsk(_ address: IPAddress) -> Bool { address.isPublic || isAllowed(address) }

    private func isAllowed(_ address: IPAddress) -> Bool { allowedPrivateRanges.contains { $0.contains(address) } }
}
