import Keys
public import Storage

extension DittoWebhooks {
    public static let table = StoredTable(
        "webhooks", ofMerchant: .cascade, sealed: [(SealedPlace.webhookSecrets.rawValue, "sealed_secrets")])
}
