import JSON
package import Storage
import Values

extension DittoWebhook {
    static let columns: SQL.Columns = """
        id, merchant_id, name, document, sealed_secrets, created_at, updated_at, disabled_at
        """

    static func find(_ id: ID, in db: any Transaction) throws -> DittoWebhook? {
        try db.rows("SELECT \(columns) FROM webhooks WHERE id = \(id)").first.map(DittoWebhook.init)
    }

    package init(_ row: Row) throws {
        let id = try row.get("id", as: ID.self)
        self.init(
            id: id, merchant: try row.get("merchant_id"), name: try row.get("name"),
            rules: try Self.reading(id) { try DittoRules(try JSON(stored: try row.get("document"))) },
            sealedSecrets: try row.get("sealed_secrets"), createdAt: try row.get("created_at"),
            updatedAt: try row.get("updated_at"), disabledAt: try row.get("disabled_at"))
    }

    /// The rules of the webhook `id` as `read` reads them, or the error that names it.
    static func reading(_ id: ID, _ read: () throws -> DittoRules) throws -> DittoRules {
        do {
            return try read()
        } catch {
            throw StorageError.unreadable("webhooks/\(id): a document that this version does not read")
        }
    }

    func insert(in db: any Transaction) throws {
        try db.execute(
            """
            INSERT INTO webhooks (id, merchant_id, name, document, sealed_secrets, created_at, updated_at, disabled_at)
            VALUES (\(id), \(merchant), \(name), \(rules.json.text), \(sealedSecrets), \(createdAt), \(updatedAt),
                \(disabledAt))
            ON CONFLICT (id) DO NOTHING
            """)
    }

    func update(in db: any Transaction) throws {
        try db.execute(
            """
            UPDATE webhooks SET document = \(rules.json.text), sealed_secrets = \(sealedSecrets),
                updated_at = \(updatedAt), disabled_at = \(disabledAt)
            WHERE id = \(id)
            """)
    }
}
