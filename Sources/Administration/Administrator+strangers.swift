public import Directory
public import JSON

/// What a merchant's administrator may do with a client that registered itself. Its users allowed a third party, and
/// have not met the merchant: with a secret of its own, or another address, the merchant would be that third party.
extension Administrator {
    /// Whether secrets of `client` are the administrator's to add and to end.
    public func maySetSecrets(of client: Client) -> Bool { confines == nil || client.may(.belongToMerchant) }

    /// Whether the members of `json` are the administrator's to change: all of a client that becomes the merchant's own
    /// by it, and few of one that stays a stranger's.
    public func may(change json: JSON, of client: Client, toBecome changed: Client) -> Bool {
        maySetSecrets(of: client) || changed.may(.belongToMerchant)
            || (json.members ?? []).allSatisfy { ["disabled", "scope", "first_party"].contains($0.name) }
    }
}
