import JSON
package import Storage
import Values

/// The owners of the APIs that clients name as `resources` (RFC 8707). An API trusts tokens by their `aud`, so another
/// merchant's client must not get tokens for it.
///
/// An API belongs to the merchant whose client named it first, even when that client is deleted; the platform's own
/// APIs stay the platform's. The platform lends an API to another merchant's client by naming it there, and to no other
/// client of that merchant. Each API is stored in its normal form. A host's root has two normal forms, which count as
/// one API.
package enum ClientResources {
    /// How many different APIs the clients of a merchant may ever name.
    package static let most = 10_000

    /// Notes that `client` names other resources than `former`. Throws for a resource that another merchant has and the
    /// client's own does not, unless the authority `lends` it.
    static func note(_ client: Client, after former: Client?, lends: Bool, in db: any Transaction) throws {
        let named = Set(client.openID.resources)
        let known = Set(former?.openID.resources ?? [])
        for resource in known.subtracting(named) {
            try db.execute(
                "DELETE FROM client_resources WHERE resource = \(resource) AND client_id = \(client.id)")
            let forms = ResourceURI.equivalents(of: resource)
            guard lends, let merchant = client.merchant, named.isDisjoint(with: forms) else { continue }
            try takeBack(forms, from: merchant, in: db)
        }
        for resource in named.subtracting(known).sorted() {
            let standing = try standing(of: resource, for: client, in: db)
            guard lends || standing != .others else {
                throw JSONFault(
                    "resources", "your own APIs: another merchant owns one of these, and only the platform lends it")
            }
            try db.execute(
                """
                INSERT INTO client_resources (resource, client_id) VALUES (\(resource), \(client.id))
                ON CONFLICT (resource, client_id) DO NOTHING
                """)
            guard standing != .own else { continue }
            guard let merchant = client.merchant else {
                if standing == .free {
                    try TakenNames.take(.api, "SELECT \(resource) AS name, NULL AS merchant_id", at: nil, in: db)
                }
                continue
            }
            try db.execute(
                """
                INSERT INTO merchant_resources (resource, merchant_id, is_lent)
                VALUES (\(resource), \(merchant), \(standing == .others))
                ON CONFLICT (resource, merchant_id) DO NOTHING
                """)
        }
    }

    /// Whether `merchant` has no more than that, including those just stored.
    package static func hasRoom(_ merchant: Merchant.ID, in db: any Transaction) throws -> Bool {
        try db.rows(
            "SELECT resource FROM merchant_resources WHERE merchant_id = \(merchant) LIMIT 1 OFFSET \(most)"
        ).isEmpty
    }

    /// Takes an API from `merchant`: a loan ends. An API it owns but no client of it names any more passes to the
    /// merchants it was lent to; if there are none, it stays.
    private static func takeBack(_ forms: [String], from merchant: Merchant.ID, in db: any Transaction) throws {
        let holders = try holders(of: forms, in: db)
        let isOwner = holders.contains { $0.merchant == merchant && !$0.isLent }
        if isOwner {
            let others = try holders.filter { holder in
                try holder.merchant != merchant && (!holder.isLent || isNamed(forms, by: holder.merchant, in: db))
            }
            let isReserved = try TakenNames.has(.api, forms, in: db)
            guard try !isNamed(forms, by: merchant, in: db), isReserved || !others.isEmpty else { return }
            if !isReserved, others.allSatisfy(\.isLent) {
                try db.execute(
                    """
                    UPDATE merchant_resources SET is_lent = 0
                    WHERE resource IN (\(list: forms)) AND merchant_id IN (\(list: others.map(\.merchant)))
                    """)
            }
        }
        try db.execute(
            "DELETE FROM merchant_resources WHERE resource IN (\(list: forms)) AND merchant_id = \(merchant)")
    }

    /// How an API relates to a client's merchant, or to the platform.
    private enum Standing {
        case free, own, others
    }

    /// Looks at all forms of the API. Rows of the client itself do not count, because the transaction may run twice.
    private static func standing(
        of resource: String, for client: Client, in db: any Transaction
    ) throws -> Standing {
        let forms = ResourceURI.equivalents(of: resource)
        let holders = try holders(of: forms, in: db)
        if let merchant = client.merchant, holders.contains(where: { $0.merchant == merchant && !$0.isLent }) {
            return .own
        }
        guard try holders.isEmpty && !TakenNames.has(.api, forms, in: db) else { return .others }
        let named = try db.rows(
            """
            SELECT client_id FROM client_resources
            WHERE resource IN (\(list: forms)) AND client_id <> \(client.id) LIMIT 1
            """)
        return named.isEmpty ? .free : .others
    }

    /// The merchants that own an API, or that it is or was lent to.
    private static func holders(
        of forms: [String], in db: any Transaction
    ) throws -> [(merchant: Merchant.ID, isLent: Bool)] {
        try db.rows(
            """
            SELECT merchant_id, is_lent FROM merchant_resources WHERE resource IN (\(list: forms)) ORDER BY is_lent
            """
        ).map { (try $0.get("merchant_id"), try $0.get("is_lent")) }
    }

    private static func isNamed(
        _ forms: [String], by merchant: Merchant.ID, in db: any Transaction
    ) throws -> Bool {
        try !db.rows(
            """
            SELECT 1 AS found FROM client_resources r JOIN clients c ON c.id = r.client_id
            WHERE r.resource IN (\(list: forms)) AND c.merchant_id = \(merchant) AND c.deleted_at IS NULL LIMIT 1
            """
        ).isEmpty
    }

    /// Keeps the APIs of a merchant that is about to be deleted: they may outlive it, and trust tokens by their `aud`.
    static func keep(of merchant: Merchant.ID, at now: Timestamp, in db: any Transaction) throws {
        try TakenNames.take(
            .api,
            """
            SELECT resource AS name, NULL AS merchant_id FROM merchant_resources
            WHERE merchant_id = \(merchant) AND is_lent = 0
            """, at: now, in: db)
    }
}
