public import Storage
public import Values

extension ScanRequester {
    /// The merchant's backends and administrators, or those who run the server when it is nil.
    public static func of(_ merchant: Merchant.ID?) -> ScanRequester {
        merchant.map { .merchant($0.text) } ?? .platform
    }

    /// The merchant of `scope`'s client, or that client itself.
    package static func of(_ scope: ClientScope) -> ScanRequester {
        scope.merchant.map { .merchant($0.text) } ?? .client(scope.client.text)
    }
}
