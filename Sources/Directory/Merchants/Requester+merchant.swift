public import Storage
public import Values

extension Requester {
    /// The merchant's backends and administrators, or the operators of the server when it is nil.
    public static func of(_ merchant: Merchant.ID?) -> Requester {
        merchant.map { .merchant($0.text) } ?? .platform
    }

    /// One of the merchant's self-registered clients, which have a share together. `part` is the client's id, or that
    /// of the token with which a client registers.
    package static func registered(of merchant: Merchant.ID?, by part: String) -> Requester {
        .merchant(ClientKind.Owner.registeredItself(at: merchant).outboundShare).asked(by: part)
    }

    /// A user at a merchant's apps, who waits for `purpose`. All users of a merchant have one share, beside its
    /// backends and administrators.
    public static func user(_ user: UserID, of merchant: Merchant.ID?, for purpose: StaticString) -> Requester {
        .merchant("\(merchant?.text ?? "") \(purpose)").asked(by: user.description)
    }

    /// The user who asks by `scope`, or the merchant of its client, or that client itself.
    package static func of(_ scope: ClientScope) -> Requester {
        if let user = scope.user { return .user(user, of: scope.merchant, for: "lists") }
        return scope.merchant.map { .merchant($0.text) } ?? .client(scope.client.text)
    }
}
