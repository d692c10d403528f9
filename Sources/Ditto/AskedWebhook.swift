import Directory
import Storage

/// A webhook at whose address somebody asks. Its rules are read once it is known that the request is Ditto's.
public struct AskedWebhook: Sendable {
    let id: DittoWebhook.ID
    let merchant: Merchant.ID
    let sealedSecrets: String?
    private let document: String
    private let parsed: ParsedRules

    static let columns: SQL.Columns = "id, merchant_id, document, sealed_secrets"

    init(_ row: Row, reading parsed: ParsedRules) throws {
        id = try row.get("id")
        merchant = try row.get("merchant_id")
        document = try row.get("document")
        sealedSecrets = try row.get("sealed_secrets")
        self.parsed = parsed
    }

    /// Which users it admits, and what it answers. Throws `StorageError.unreadable`.
    public var rules: DittoRules {
        get throws {
            try DittoWebhook.reading(id) { try parsed.rules(of: document, for: id, of: merchant) }
        }
    }
}
