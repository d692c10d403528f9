import Keys
public import Storage

extension Outbox {
    public static let table = StoredTable(
        "deliveries",
        retention: [
            // A node that delivers moves `due_at` on; a delivery that no node can send is here when it is due again.
            .statement("deliveries") { now, batch in
                """
                DELETE FROM deliveries WHERE id IN (
                    SELECT id FROM deliveries WHERE due_at <= \(now) AND expires_at <= \(now)
                    ORDER BY due_at LIMIT \(batch))
                """
            }
        ],
        ofUser: .expiry, ofClient: .expiry, sealed: [(SealedPlace.delivery.rawValue, "sealed_content")])
}
