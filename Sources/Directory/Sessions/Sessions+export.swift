import JSON
import Storage

extension Sessions {
    /// Includes the ended ones, as long as they are kept.
    static let export = StoredTable.Export.member("sessions") { user, db in
        .array(
            try ["ended_at IS NULL", "ended_at IS NOT NULL"].flatMap { (ended: SQL) in
                try db.rows(
                    """
                    SELECT user_agent, ip_address, method, buyer_id, remembered, signed_in_at, created_at, seen_at,
                        expires_at, ended_at
                    FROM sessions WHERE user_id = \(user) AND \(ended) LIMIT \(StoredTable.Export.most)
                    """)
            }.map { row in
                .members([
                    "device": .string(try row.get("user_agent")), "address": .string(try row.get("ip_address")),
                    "signed_in_by": .string(try row.get("method")),
                    "bought_by": try row.get("buyer_id", as: String?.self).map { .string($0) },
                    "remembered": .bool(try row.get("remembered")),
                    "signed_in_at": try row.utc("signed_in_at"), "opened_at": try row.utc("created_at"),
                    "last_seen_at": try row.utc("seen_at"), "expires_at": try row.utc("expires_at"),
                    "ended_at": try row.utc("ended_at"),
                ])
            })
    }
}

extension HostSessions {
    static let export = StoredTable.Export.member("host_sessions") { user, db in
        .array(
            try db.rows(
                """
                SELECT h.client_id, h.host FROM host_sessions h JOIN sessions s ON s.id = h.session_id
                WHERE s.user_id = \(user) LIMIT \(StoredTable.Export.most)
                """
            ).map { row in
                .members(["client_id": .string(try row.get("client_id")), "host": .string(try row.get("host"))])
            })
    }
}
