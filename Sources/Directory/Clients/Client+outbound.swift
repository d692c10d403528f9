import Values

extension Client {
    /// The share that pays for an outbound request caused by this client: its merchant's. A merchant's self-registered
    /// clients have one share together, because the merchant does not vouch for them.
    public var outboundShare: String { Self.outboundShare(of: merchant, registeredItself: registeredItself) }

    /// The share of its users' allowances that it uses up: its merchant's, or its own if it is a third party's.
    package var shareOfUser: String { firstParty || registeredItself ? outboundShare : id.text }

    package static func outboundShare(of merchant: Merchant.ID?, registeredItself: Bool) -> String {
        (merchant?.text ?? "the platform") + (registeredItself ? " registered" : "")
    }
}
