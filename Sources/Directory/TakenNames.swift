package import Storage
package import Values

/// Names that were given once and stay taken, because their holder was deleted or renamed. Only chosen names are kept:
/// ids that the server makes are random and never come back (docs/model.md).
package enum TakenNames {
    package enum Kind: String, Sendable {
        /// A client's id, for a while.
        case client
        /// A merchant's name.
        case merchant
        case merchantNumber = "merchant_number"
        case webhook
    }

    /// For how long the id of a deleted client stays taken: longer than any JWT that names it, and than any session in
    /// which it was used.
    package static let memoryOfClient: Duration =
        max(OpenIDSettings.longestJWT, Session.rememberedLifetime) + .days(1)

    /// Takes the names that the query `some` selects as `name`, with their owner as `merchant_id`.
    package static func take(_ kind: Kind, _ some: SQL, at now: Timestamp, in db: any Transaction) throws {
        // Without a WHERE, SQLite would read ON CONFLICT as part of the SELECT.
        try db.execute(
            """
            INSERT INTO taken (kind, name, merchant_id, gone_at)
            SELECT \(kind.rawValue), s.name, s.merchant_id, CAST(\(now) AS BIGINT) FROM (\(some)) s WHERE \(SQL.always)
            ON CONFLICT (kind, name) DO UPDATE SET merchant_id = excluded.merchant_id, gone_at = excluded.gone_at
            """)
    }

    /// Releases a name that is given again.
    package static func release(_ kind: Kind, _ name: String, in db: any Transaction) throws {
        try db.execute("DELETE FROM taken WHERE kind = \(kind.rawValue) AND name = \(name)")
    }

    package static func has(_ kind: Kind, _ names: [String], in db: any Transaction) throws -> Bool {
        try !db.rows("SELECT name FROM taken WHERE kind = \(kind.rawValue) AND name IN (\(list: names))").isEmpty
    }

    /// Whether the name belonged to another merchant than `merchant`.
    package static func isAnothers(
        _ kind: Kind, _ name: String, than merchant: Merchant.ID, in db: any Transaction
    ) throws -> Bool {
        try !db.rows(
            """
            SELECT name FROM taken
            WHERE kind = \(kind.rawValue) AND name = \(name) AND (merchant_id IS NULL OR merchant_id <> \(merchant))
            """
        ).isEmpty
    }

    /// Whether more than `most` names are kept for `merchant`.
    package static func has(
        moreThan most: Int, _ kind: Kind, of merchant: Merchant.ID, in db: any Transaction
    ) throws -> Bool {
        try !db.rows(
            """
            SELECT name FROM taken WHERE merchant_id = \(merchant) AND kind = \(kind.rawValue)
            ORDER BY name LIMIT 1 OFFSET \(most)
            """
        ).isEmpty
    }

    /// When a client may have this id again; nil when it may now.
    static func end(ofClient id: Client.ID, at now: Timestamp, in db: any Transaction) throws -> Timestamp? {
        let goneAt: Timestamp? = try db.rows(
            "SELECT gone_at FROM taken WHERE kind = \(Kind.client.rawValue) AND name = \(id)"
        ).first?.get("gone_at")
        return goneAt.map { $0 + memoryOfClient }.flatMap { now < $0 ? $0 : nil }
    }

    static let table = StoredTable(
        "taken",
        retention: [
            .statement("takenClientIDs") { now, batch in
                """
                DELETE FROM taken WHERE kind = 'client' AND name IN (
                    SELECT name FROM taken WHERE kind = 'client' AND gone_at <= \(now - memoryOfClient)
                    ORDER BY gone_at LIMIT \(batch))
                """
            }
        ])
}
