/// An application that the user has allowed something.
public struct AppItem: Sendable {
    let client: String
    let name: String
    let merchantName: String
    let scopes: [ConsentPage.Scope]
    let since: String

    /// - Parameters:
    ///   - merchantName: the merchant that it belongs to; empty if there is none.
    ///   - since: in UTC, as `2026-11-21 10:58`.
    public init(client: String, name: String, merchantName: String, scopes: [ConsentPage.Scope], since: String) {
        self.client = client
        self.name = name
        self.merchantName = merchantName
        self.scopes = scopes
        self.since = since
    }

    func words(_ texts: Texts) -> [String: Any] {
        [
            "client": client, "name": name, "merchantName": merchantName, "isOfMerchant": !merchantName.isEmpty,
            "scopes": scopes.map { $0.words(texts) }, "since": since,
        ]
    }
}
