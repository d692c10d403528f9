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
        .merchant(Client.outboundShare(of: merchant, registeredItself: true)).asked(by: part)
    }

    /// The merchant of `scope`'s client, or that client itself.
    package static func of(_ scope: ClientScope) -> Requester {
        scope.merchant.map { .merchant($0.text) } ?? .client(scope.client.text)
    }
}
