import JSON
import Storage
import Values

/// The owners of the APIs that clients name as `resources` (RFC 8707). An API trusts tokens by their `aud`, so another
/// merchant's client must not get tokens for it. An API belongs to the merchant whose client named it first, also when
/// that client is gone, and to those that the platform lends it to, as long as a client of theirs names it. The
/// platform's own are nobody else's. Each is stored in its normal form; only a host's
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
            if lends, let merchant = client.merchant { try takeBack(resource, from: merchant, in: db) }
        }
        for resource in named.subtracting(known).sorted() {
            let isOwn = try isFree(resource, for: client, in: db)
            guard lends || isOwn else {
                throw JSONFault(
                    "resources", "your own APIs: another merchant has one of these, which only the platform lends")
            }
            try db.execute(
                """
                INSERT INTO client_resources (resource, client_id) VALUES (\(resource), \(client.id))
                ON CONFLICT (resource, client_id) DO NOTHING
                """)
            guard let merchant = client.merchant else {
                if isOwn { try reserve("SELECT \(resource) AS resource WHERE \(SQL.always)", in: db) }
                continue
            }
            try db.execute(
                """
                INSERT INTO merchant_resources (resource, merchant_id, is_lent)
                VALUES (\(resource), \(merchant), \(!isOwn))
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

    /// Takes an API from `merchant`, whose last client that named it names it no more, where others have it too. One
    /// that nobody else has stays the merchant's own.
    private static func takeBack(_ resource: String, from merchant: Merchant.ID, in db: any Transaction) throws {
        let others = try db.rows(
            """
            SELECT merchant_id AS owner FROM merchant_resources
            WHERE resource = \(resource) AND merchant_id <> \(merchant)
            UNION ALL SELECT '' AS owner FROM reserved_resources WHERE resource = \(resource)
            """)
        guard !others.isEmpty, try !isNamed(resource, by: merchant, besides: nil, in: db) else { return }
        try db.execute("DELETE FROM merchant_resources WHERE resource = \(resource) AND merchant_id = \(merchant)")
        // It was the first to name it. What the platform gave to others since is theirs now.
        let owners = try db.rows(
            "SELECT 1 AS found FROM merchant_resources WHERE resource = \(resource) AND is_lent = 0")
        let isReserved = try others.contains { try $0.get("owner", as: String.self).isEmpty }
        guard owners.isEmpty, !isReserved else { return }
        try db.execute("UPDATE merchant_resources SET is_lent = 0 WHERE resource = \(resource)")
    }

    private static func isNamed(
        _ resource: String, by merchant: Merchant.ID, besides client: Client.ID?, in db: any Transaction
    ) throws -> Bool {
        try !db.rows(
            """
            SELECT 1 AS found FROM client_resources r JOIN clients c ON c.id = r.client_id
            WHERE r.resource = \(resource) AND c.merchant_id = \(merchant) AND c.id <> \(client?.text ?? "")
                AND c.deleted_at IS NULL LIMIT 1
            """
        ).isEmpty
    }

    private static func isFree(_ resource: String, for client: Client, in db: any Transaction) throws -> Bool {
        try ResourceURI.equivalents(of: resource).allSatisfy { try isFree(exactly: $0, for: client, in: db) }
    }

    private static func isFree(exactly resource: String, for client: Client, in db: any Transaction) throws -> Bool {
        // Rows of the client itself do not count: the transaction's closure may run twice.
        let named = try db.rows(
            "SELECT client_id FROM client_resources WHERE resource = \(resource) AND client_id <> \(client.id) LIMIT 1")
        let reserved = try db.rows("SELECT resource FROM reserved_resources WHERE resource = \(resource)")
        let kept = try db.rows("SELECT merchant_id, is_lent FROM merchant_resources WHERE resource = \(resource)")
        guard !named.isEmpty || !reserved.isEmpty || !kept.isEmpty else { return true }
        guard let merchant = client.merchant,
            let own = try kept.first(where: { try $0.get("merchant_id", as: String.self) == merchant.text })
        else { return false }
        // What the platform lent is the merchant's as long as a client of theirs names it.
        return try !own.get("is_lent", as: Bool.self) || isNamed(resource, by: merchant, besides: client.id, in: db)
    }

    private static func reserve(_ some: SQL, in db: any Transaction) throws {
        try db.execute("INSERT INTO reserved_resources (resource) \(some) ON CONFLICT (resource) DO NOTHING")
    }

    /// Keeps the APIs of a merchant that is about to go: they may outlive it, and trust tokens by their `aud`.
    static func keep(of merchant: Merchant.ID, in db: any Transaction) throws {
        try reserve(
            "SELECT resource FROM merchant_resources WHERE merchant_id = \(merchant) AND is_lent = 0", in: db)
    }
}
