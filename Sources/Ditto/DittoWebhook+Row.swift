import Storage
import Values

extension DittoWebhook {
    static let columns: SQL.Columns = """
        id, merchant_id, name, document, sealed_secrets, created_at, updated_at, disabled_at
        """

    init(_ row: Row, reading parsed: ParsedRules) throws {
        self.init(
            id: try row.get("id"), merchant: try row.get("merchant_id"), name: try row.get("name"),
            document: try row.get("document"), parsed: parsed, sealedSecrets: try row.get("sealed_secrets"),
            createdAt: try row.get("created_at"),
            updatedAt: try row.get("updated_at"), disabledAt: try row.get("disabled_at"))
    }

    func insert(in db: any Transaction) throws {
        try db.execute(
            """
            INSERT INTO webhooks (id, merchant_id, name, document, sealed_secrets, created_at, updated_at, disabled_at)
            VALUES (\(id), \(merchant), \(name), \(document), \(sealedSecrets), \(createdAt), \(updatedAt),
                \(disabledAt))
            ON CONFLICT (id) DO NOTHING
            """)
    }

    func update(in db: any Transaction) throws {
        try db.execute(
            """
            UPDATE webhooks SET document = \(document), sealed_secrets = \(sealedSecrets),
                updated_at = \(updatedAt), disabled_at = \(disabledAt)
            WHERE id = \(id)
            """)
    }
}
