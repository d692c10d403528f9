import Keys
public import Storage

extension DittoWebhooks {
    public static let table = StoredTable(
        "webhooks", ofMerchant: erasure, sealed: [(SealedPlace.webhookSecrets.rawValue, "sealed_secrets")])
}
