package import Storage
public import Values

/// The clients that ask about users: one alone, or together with all others of its merchant.
public struct ClientScope: Sendable {
    package let client: Client.ID
    package let merchant: Merchant.ID?
    /// Whether the users of all the merchant's clients are included, not only those of this client.
    let isWide: Bool
    /// False for a third-party client, which learns nothing about what users do at the merchant's other clients.
    let sharesWithMerchant: Bool
    /// The user whose token asks; nil for the client itself.
    let user: UserID?

    public init(
        client: Client.ID, merchant: Merchant.ID?, isWide: Bool, sharesWithMerchant: Bool = true, user: UserID? = nil
    ) {
        self.client = client
        self.merchant = merchant
        self.isWide = isWide
        self.sharesWithMerchant = sharesWithMerchant
        self.user = user
    }

    /// Whether `client`, the alias of a row of `clients` in a statement, is one of these.
    package func contains(_ client: SQL) -> SQL { isAmong(reach, client) }
    /// Whether sign-ins at `client` count as the user's last one.
    package func countsLogins(at client: SQL) -> SQL { isAmong(sharesWithMerchant ? merchant : nil, client) }

    /// The client itself counts, and of other clients the merchant's first-party ones.
    private func isAmong(_ merchant: Merchant.ID?, _ client: SQL) -> SQL {
        """
        (\(client).id = \(self.client) OR (\(client).merchant_id = \(merchant)
            AND \(ClientRight.shareWithMerchant.held(by: client)) AND \(client).deleted_at IS NULL))
        """
    }
    /// The merchant whose clients count. Nil when only the client counts: NULL equals no client's merchant.
    package var reach: Merchant.ID? { isWide ? merchant : nil }
}
