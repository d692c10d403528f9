import Values

extension RedirectURI {
    package var isOfWeb: Bool { text.hasPrefix("https://") || text.hasPrefix("http://") }

    /// The origin of a page at this address, as browsers write it (RFC 6454 §6.2).
    public var origin: String? { isOfWeb ? URIParts(text)?.origin : nil }
}
