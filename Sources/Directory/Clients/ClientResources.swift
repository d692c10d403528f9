import JSON
import Storage

/// The owners of the APIs that clients name as `resources` (RFC 8707). An API trusts tokens by their `aud`, so another
/// merchant's client must not get tokens for it. An API belongs to the merchant whose client named it first, and to
/// those that the platform lends it to. Each is stored in its normal form; only a host's root has two.
enum ClientResources {
    /// Notes the resources that `client` names now instead of those it named as `former`. Unless `lends`, throws for a
    /// resource that another merchant has and the client's own does not.
    static func note(_ client: Client, after former: Client?, lends: Bool, in db: any Transaction) throws {
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
        }
    }

    private static func isFree(_ resource: String, for client: Client, in db: any Transaction) throws -> Bool {
        try ResourceURI.equivalents(of: resource).allSatisfy { try isFree(exactly: $0, for: client, in: db) }
    }

    private static func isFree(exactly resource: String, for client: Client, in db: any Transaction) throws -> Bool {
        // Rows of the client itself do not count: the transaction's closure may run twice.
        let others = try db.rows(
            "SELECT client_id FROM client_resources WHERE resource = \(resource) AND client_id <> \(client.id) LIMIT 1")
        if others.isEmpty { return true }
        guard let merchant = client.merchant else { return false }
        return try !db.rows(
            """
            SELECT c.id FROM client_resources r JOIN clients c ON c.id = r.client_id
            WHERE r.resource = \(resource) AND c.merchant_id = \(merchant) AND c.id <> \(client.id) LIMIT 1
            """
        ).isEmpty
    }
}
