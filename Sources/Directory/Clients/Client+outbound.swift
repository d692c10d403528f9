import Values

extension Client {
    /// Whose share a request to another server that this client causes is charged to: its merchant's. Clients that
    /// registered themselves have one of their own together, for a merchant knows nothing of them.
    public var outboundShare: String { Self.outboundShare(of: merchant, registeredItself: registeredItself) }

    /// Whose share of what its users may have it uses up: its merchant's, or its own if it is a third party's.
    package var shareOfUser: String { firstParty || registeredItself ? outboundShare : id.text }

    package static func outboundShare(of merchant: Merchant.ID?, registeredItself: Bool) -> String {
        (merchant?.text ?? "the platform") + (registeredItself ? " registered" : "")
    }
}
