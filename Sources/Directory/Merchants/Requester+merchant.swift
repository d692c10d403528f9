public import Storage
public import Values

extension Requester {
    /// The merchant's backends and administrators, or those who run the server when it is nil.
    public static func of(_ merchant: Merchant.ID?) -> Requester {
        merchant.map { .merchant($0.text) } ?? .platform
    }

    /// One of the merchant's clients that registered themselves, which have a share together: it knows nothing of them.
    /// `part` is the client's id, or that of the token with which one registers.
    package static func registered(of merchant: Merchant.ID?, by part: String) -> Requester {
        .merchant(ClientKind.Owner.registeredItself(at: merchant).outboundShare).asked(by: part)
    }

    /// A user at a merchant's apps, who waits for `purpose`. All of these have a share together, beside the merchant's
    /// backends and administrators.
    public static func user(_ user: UserID, of merchant: Merchant.ID?, for purpose: StaticString) -> Requester {
        .merchant("\(merchant?.text ?? "") \(purpose)").asked(by: user.description)
    }

    /// The user who asks by way of `scope`, or the merchant of its client, or that client itself.
    package static func of(_ scope: ClientScope) -> Requester {
        if let user = scope.user { return .user(user, of: scope.merchant, for: "lists") }
        return scope.merchant.map { .merchant($0.text) } ?? .client(scope.client.text)
    }
}
