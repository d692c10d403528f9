public import Directory
public import JSON
import OAuth
import Storage
public import Values

/// A merchant's webhook where Ditto asks, for one app, whether a user is admitted and what they may read and write.
///
/// Its rules are parsed when needed, which takes ten milliseconds if they are long.
public struct DittoWebhook: Sendable {
    public typealias ID = Identifier<DittoWebhook>

    public let id: ID
    public let merchant: Merchant.ID
    /// The last part of its URL, which is pasted into Ditto's portal: it never changes.
    public let name: String
    /// The rules as they are stored.
    var document: String
    let parsed: ParsedRules
    /// The sealed secrets with which Ditto signs its requests; nil when it does not sign.
    var sealedSecrets: String?
    public let createdAt: Timestamp
    public var updatedAt: Timestamp
    public var disabledAt: Timestamp?

    /// Whether `text` can be a webhook's name.
    static func isName(_ text: String) -> Bool {
        let other = Set("-_.".utf8)
        // No URL path can end in a dot segment (RFC 3986 §5.2.4).
        return (1...64).contains(text.utf8.count) && ![".", ".."].contains(text)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: other.contains(byte)
                }
            }
    }

    /// Which users it admits, and what it answers. Throws `StorageError.unreadable`.
    public var rules: DittoRules {
        get throws {
            do {
                return try parsed.rules(of: document, for: id, of: merchant)
            } catch {
                throw StorageError.unreadable("webhooks/\(id): a document that this version does not read")
            }
        }
    }

    /// The JSON for the admin API. Secrets are not part of it.
    public func json() throws -> JSON {
        let own: JSON = .members([
            "id": .string(id.text), "merchant_id": .string(merchant.text), "name": .string(name),
            "signed": .bool(sealedSecrets != nil), "created_at": .integer(createdAt.seconds),
            "updated_at": .integer(updatedAt.seconds), "disabled": .bool(disabledAt != nil),
        ])
        return .object((own.members ?? []) + (try rules.json.members ?? []))
    }
}

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
