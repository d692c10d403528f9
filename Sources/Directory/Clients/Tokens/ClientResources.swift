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
            switch standing {
            case .own: break
            case .free:
                try db.execute(
                    """
                    INSERT INTO resources (resource, owner) VALUES (\(resource), \(client.merchant))
                    ON CONFLICT (resource, lent_to) DO NOTHING
                    """)
            case .others:
                guard let merchant = client.merchant else { break }
                let forms = ResourceURI.equivalents(of: resource)
                try db.execute(
                    """
                    INSERT INTO resources (resource, owner, lent_to)
                    SELECT \(resource), r.owner, \(merchant) FROM resources r
                    WHERE r.resource IN (\(list: forms)) AND r.lent_to = '' LIMIT 1
                    ON CONFLICT (resource, lent_to) DO NOTHING
                    """)
            }
        }
    }

    /// Whether `merchant` has no more than that, including those just stored.
    package static func hasRoom(_ merchant: Merchant.ID, in db: any Transaction) throws -> Bool {
        try db.rows(
            """
            SELECT resource FROM resources WHERE (owner = \(merchant) AND lent_to = '') OR lent_to = \(merchant)
            LIMIT 1 OFFSET \(most)
            """
        ).isEmpty
    }

    /// Takes an API from `merchant`: a loan ends. An API that it owns but no client of it names any more passes to a
    /// merchant that it was lent to and whose client names it; if there is none, it stays.
    private static func takeBack(_ forms: [String], from merchant: Merchant.ID, in db: any Transaction) throws {
        let holdings = try holdings(of: forms, in: db)
        if holdings.contains(where: { $0.owner == merchant }) {
            let heir = try holdings.compactMap(\.borrower).first { try isNamed(forms, by: $0, in: db) }
            guard let heir, try !isNamed(forms, by: merchant, in: db) else { return }
            try db.execute("DELETE FROM resources WHERE resource IN (\(list: forms)) AND lent_to = \(heir)")
            try db.execute("UPDATE resources SET owner = \(heir) WHERE resource IN (\(list: forms))")
        } else {
            try db.execute("DELETE FROM resources WHERE resource IN (\(list: forms)) AND lent_to = \(merchant)")
        }
    }

    /// How an API relates to a client's merchant, or to the platform.
    private enum Standing {
        case free, own, others
    }

    /// Looks at all forms of the API.
    private static func standing(
        of resource: String, for client: Client, in db: any Transaction
    ) throws -> Standing {
        let holdings = try holdings(of: ResourceURI.equivalents(of: resource), in: db)
        guard let owner = holdings.first?.owner else { return holdings.isEmpty ? .free : .others }
        return owner == client.merchant ? .own : .others
    }

    /// The owner of an API, nil for the platform, and the merchants that it is or was lent to. None of an API that is
    /// new.
    private static func holdings(
        of forms: [String], in db: any Transaction
    ) throws -> [(owner: Merchant.ID?, borrower: Merchant.ID?)] {
        try db.rows("SELECT owner, lent_to FROM resources WHERE resource IN (\(list: forms)) ORDER BY lent_to").map {
            let borrower: Merchant.ID = try $0.get("lent_to")
            return (try $0.get("owner"), borrower.text.isEmpty ? nil : borrower)
        }
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

    /// Makes the APIs of a merchant that is about to be deleted the platform's: they may outlive it, and trust tokens
    /// by their `aud`.
    static func keep(of merchant: Merchant.ID, in db: any Transaction) throws {
        try db.execute("UPDATE resources SET owner = NULL WHERE owner = \(merchant)")
    }
}
