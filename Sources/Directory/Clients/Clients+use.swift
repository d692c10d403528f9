package import Storage
package import Values

/// Whether a client ever got a token. Only then its id stays taken after its deletion, so that a client made by mistake
/// can be deleted and made again.
extension Clients {
    /// Notes that `client` gets its first token. False when it has been deleted: a node caches a client for a moment,
    /// in which another client may get the unused id.
    package static func noteUse(of client: Client, at now: Timestamp, in db: any Transaction) throws -> Bool {
        guard client.usedAt == nil else { return true }
        let found = try db.rows(
            """
            SELECT used_at FROM clients
            WHERE id = \(client.id) AND created_at = \(client.createdAt) AND deleted_at IS NULL
            """
        ).first
        guard let found else { return false }
        guard try found.get("used_at", as: Timestamp?.self) == nil else { return true }
        try db.execute("UPDATE clients SET used_at = \(now) WHERE id = \(client.id) AND used_at IS NULL")
        return true
    }

    /// Called when the first token of `client` is stored: from then on nothing is asked.
    package func didNoteUse(of client: Client) {
        if client.usedAt == nil { known.forget(client.id) }
    }

    /// Keeps the id of a client that is about to be deleted, if it ever got a token.
    static func keepID(of id: Client.ID, at now: Timestamp, in db: any Transaction) throws {
        try TakenNames.take(
            .client, "SELECT id AS name, NULL AS merchant_id FROM clients WHERE id = \(id) AND used_at IS NOT NULL",
            at: now, in: db)
    }
}
