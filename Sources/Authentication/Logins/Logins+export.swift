import JSON
import Storage

extension Logins {
    static let export = StoredTable.Export.member("logins") { user, db in
        .array(
            try db.rows(
                """
                SELECT client_id, type, succeeded, provider, user_agent, ip_address, created_at FROM logins
                WHERE user_id = \(user) ORDER BY created_at DESC, id DESC LIMIT \(StoredTable.Export.most)
                """
            ).map { row in
                .members([
                    "at": try row.utc("created_at"), "type": .string(try row.get("type")),
                    "succeeded": .bool(try row.get("succeeded")), "address": .string(try row.get("ip_address")),
                    "device": .string(try row.get("user_agent")),
                    "client_id": try row.get("client_id", as: String?.self).map { .string($0) },
                    "provider": try row.get("provider", as: String?.self).map { .string($0) },
                ])
            })
    }
}
