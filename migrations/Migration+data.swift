import JSON
import Storage

extension Migration {
    /// The SPiD-compatible clients that there are keep the issuer in their answers, which new ones leave out: their
    /// libraries may check it.
    @Sendable static func keepIssuers(in db: any Transaction) throws {
        let kept = JSON.object([.init("authorization_response_iss", true)]).text
        try db.execute("UPDATE clients SET spid = \(kept) WHERE spid_compatible = 1")
    }

    /// Fills `client_resources` from what clients have said in their `openid`, which no SQL of both engines can read.
    @Sendable static func noteResources(in db: any Transaction) throws {
        for row in try db.rows("SELECT id, openid FROM clients WHERE openid <> '{}'") {
            let client = try row.get("id", as: String.self)
            let openID = try JSON(parsing: Array(try row.get("openid", as: String.self).utf8))
            for resource in openID["resources"]?.strings ?? [] {
                try db.execute(
                    """
                    INSERT INTO client_resources (resource, client_id) VALUES (\(resource), \(client))
                    ON CONFLICT (resource, client_id) DO NOTHING
                    """)
            }
        }
    }

    /// Guards the issuers that vouch for addresses, as their `rules` say, which no SQL of both engines can read.
    @Sendable static func guardIssuers(in db: any Transaction) throws {
        for row in try db.rows("SELECT id, rules FROM issuers WHERE rules <> '{}'") {
            let rules = try JSON(stored: try row.get("rules", as: String.self))
            guard rules["link_by_email"] == true || rules["authoritative_domains"]?.strings?.isEmpty == false
            else { continue }
            let issuer = try row.get("id", as: String.self)
            try db.execute("UPDATE issuers SET guarded = 1 WHERE id = \(issuer)")
        }
    }
}
