import JSON
import Storage

extension Migration {
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
}
