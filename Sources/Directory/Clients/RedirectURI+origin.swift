import Values

extension RedirectURI {
    package var isOfWeb: Bool { text.hasPrefix("https://") || text.hasPrefix("http://") }

    /// Whether it leads to a site by https, and not to the device itself.
    package var isOfSecureSite: Bool { text.hasPrefix("https://") && (hasPlainName || !isAtDevice) }

    /// Whether its host is an ordinary name, which is quicker to check than every spelling that browsers accept.
    private var hasPlainName: Bool {
        let authority = text.utf8.dropFirst("https://".utf8.count).prefix { !"/?#".utf8.contains($0) }
        let name = authority.prefix { $0 != UInt8(ascii: ":") }.split(separator: UInt8(ascii: ".")).last ?? authority
        return authority.allSatisfy { Self.lowerCase.contains($0) || "0123456789.-:".utf8.contains($0) }
            && name.first.map(Self.lowerCase.contains) ?? false && !name.elementsEqual("localhost".utf8)
    }

    private static let lowerCase = UInt8(ascii: "a")...UInt8(ascii: "z")

    /// The origin of a page at this address, as browsers write it (RFC 6454 §6.2).
    public var origin: String? { isOfWeb ? URIParts(text)?.origin : nil }
}
