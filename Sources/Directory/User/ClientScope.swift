import Storage

/// Who asks about people: a client, alone or with all others of its merchant. A client without a merchant is alone.
public struct ClientScope: Sendable {
    package let client: Client.ID
    package let merchant: Merchant.ID?
    /// Whether the people of all clients of the merchant are meant, and not only those of this one.
    let isWide: Bool

    public init(client: Client.ID, merchant: Merchant.ID?, isWide: Bool) {
        self.client = client
        self.merchant = merchant
        self.isWide = isWide
    }

    /// The merchant whose clients count; NULL, which is no client's merchant, where only the client does.
    package var reach: Merchant.ID? { isWide ? merchant : nil }
}
