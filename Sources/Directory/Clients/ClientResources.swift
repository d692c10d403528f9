import JSON
import Storage
import Values

/// The owners of the APIs that clients name as `resources` (RFC 8707). An API trusts tokens by their `aud`, so another
/// merchant's client must not get tokens for it. An API belongs to the merchant whose client named it first, and to
/// those that the platform lends it to, also when that client is gone. Each is stored in its normal form; only a host's
/// root has two.
enum ClientResources {
    /// How many different ones the clients of a merchant may ever name.
    static let most = 10_000

    /// Notes the resources that `client` names now instead of those it named as `former`. Throws for a resource that
    /// another merchant has and the client's own does not, unless the platform lends it.
    static func note(_ client: Client, after former: Client?, by author: ClientAuthor, in db: any Transaction) throws {
        let lends = author == .platform
        let named = Set(client.openID.resources)
        let known = Set(former?.openID.resources ?? [])
        for resource in known.subtracting(named) {
            try db.execute(
                "DELETE FROM client_resources WHERE resource = \(resource) AND client_id = \(client.id)")
        }
        for resource in named.subtracting(known).sorted() {
            guard try lends || isFree(resource, for: client, in: db) else {
                throw JSONFault(
                    "resources", "your own APIs: another merchant has one of these, which only the platform lends")
            }
            try db.execute(
                """
                INSERT INTO client_resources (resource, client_id) VALUES (\(resource), \(client.id))
                ON CONFLICT (resource, client_id) DO NOTHING
                """)
            guard let merchant = client.merchant else { continue }
            try db.execute(
                """
                INSERT INTO merchant_resources (resource, merchant_id) VALUES (\(resource), \(merchant))
                ON CONFLICT (resource, merchant_id) DO NOTHING
                """)
        }
        guard !lends, !named.subtracting(known).isEmpty, let merchant = client.merchant else { return }
        let beyond = try db.rows(
            "SELECT resource FROM merchant_resources WHERE merchant_id = \(merchant) LIMIT 1 OFFSET \(most)")
        guard beyond.isEmpty else {
            throw JSONFault(
                "resources", "APIs that your clients named before: \(most) are kept for you, so ask the platform")
        }
    }

    private static func isFree(_ resource: String, for client: Client, in db: any Transaction) throws -> Bool {
        try ResourceURI.equivalents(of: resource).allSatisfy { try isFree(exactly: $0, for: client, in: db) }
    }

    private static func isFree(exactly resource: String, for client: Client, in db: any Transaction) throws -> Bool {
        // Rows of the client itself do not count: the transaction's closure may run twice.
        let merchant = client.merchant?.text ?? ""
        let named = try db.rows(
            "SELECT client_id FROM client_resources WHERE resource = \(resource) AND client_id <> \(client.id) LIMIT 1")
        let kept = try db.rows("SELECT merchant_id FROM merchant_resources WHERE resource = \(resource)")
            .map { try $0.get("merchant_id", as: String.self) }
        let former = try db.rows("SELECT resource FROM former_resources WHERE resource = \(resource)")
        return (named.isEmpty && kept.isEmpty && former.isEmpty) || kept.contains(merchant)
    }

    /// Keeps the APIs of a merchant that is about to go: they may outlive it, and trust tokens by their `aud`.
    static func keep(of merchant: Merchant.ID, in db: any Transaction) throws {
        try db.execute(
            """
            INSERT INTO former_resources (resource)
            SELECT resource FROM merchant_resources WHERE merchant_id = \(merchant)
            ON CONFLICT (resource) DO NOTHING
            """)
    }
}
