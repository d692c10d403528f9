import Keys
public import Storage

extension Outbox {
    public static let table = StoredTable(
        "deliveries",
        // The last attempt begins before a delivery expires, and its lease is over then.
        retention: [.rows("deliveries", key: "id", until: "expires_at", memory: lease)],
        ofUser: .expiry, ofClient: .expiry, sealed: [(SealedPlace.delivery.rawValue, "sealed_content")])
}
