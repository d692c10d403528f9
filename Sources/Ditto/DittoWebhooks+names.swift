public import Directory
import JSON
public import Storage
public import Values

/// The name of a deleted webhook stays its merchant's: Ditto still asks at its URL, and would believe another
/// merchant's answer there.
extension DittoWebhooks {
    static let nameTaken = JSONFault("name", "new: there is a webhook of this name, or another merchant had one")

    /// How many webhooks a merchant may make by itself.
    public static let mostOfMerchant = 100
    /// How many names of deleted ones may be kept for a merchant before it makes no more by itself.
    private static let mostNames = 1000

    /// Whether `merchant` has no more webhooks than that, the one that was just stored among them.
    public static func hasRoom(_ merchant: Merchant.ID, in db: any Transaction) throws -> Bool {
        try db.rows(
            "SELECT id FROM webhooks WHERE merchant_id = \(merchant) ORDER BY id LIMIT 1 OFFSET \(mostOfMerchant)"
        ).isEmpty
            && !TakenNames.has(moreThan: mostNames, .webhook, of: merchant, in: db)
    }

    /// Deletes a webhook. False when there is none.
    public func delete(_ id: DittoWebhook.ID, by authority: some WebhookAuthority) async throws -> Bool {
        // Checked before: a rerun after a COMMIT of unknown outcome finds nothing left to delete.
        guard try await find(id) != nil else { return false }
        let now = clock.now
        try await database.write { db in
            try authority.confirm(in: db)
            if let webhook = try find(id, in: db) { try authority.permit(deleting: webhook) }
            try Self.delete("id = \(id)", at: now, in: db)
        }
        return true
    }

    /// Deletes a batch of a merchant's webhooks.
    static let erasure: StoredTable.Erasure = .steps { merchant, batch, db in
        guard
            let now: Timestamp = try db.rows("SELECT deleted_at FROM merchants WHERE id = \(merchant)").first?
                .get("deleted_at")
        else { return 0 }
        return try delete(
            """
            merchant_id = \(merchant)
                AND id IN (SELECT id FROM webhooks WHERE merchant_id = \(merchant) ORDER BY id LIMIT \(batch))
            """, at: now, in: db)
    }

    /// Deletes the webhooks for which `condition` holds, and keeps their names.
    @discardableResult
    private static func delete(_ condition: SQL, at now: Timestamp, in db: any Transaction) throws -> Int {
        try TakenNames.take(.webhook, "SELECT name, merchant_id FROM webhooks WHERE \(condition)", at: now, in: db)
        return try db.execute("DELETE FROM webhooks WHERE \(condition)")
    }
}
