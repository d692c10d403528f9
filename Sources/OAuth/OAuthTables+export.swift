import JSON
import Storage

extension Introductions {
    static let export = StoredTable.Export.member("introductions") { user, db in
        .array(
            try db.rows(
                """
                SELECT i.merchant_id, m.name, i.created_at FROM introductions i JOIN merchants m ON m.id = i.merchant_id
                WHERE i.user_id = \(user)
                """
            ).map { row in
                .members([
                    "merchant_id": .string(try row.get("merchant_id")), "merchant_name": .string(try row.get("name")),
                    "since": try row.utc("created_at"),
                ])
            })
    }
}

extension Consents {
    static let export = StoredTable.Export.member("consents") { user, db in
        .array(
            try db.rows(
                "SELECT client_id, scope, created_at, updated_at FROM consents WHERE user_id = \(user)"
            ).map { row in
                .members([
                    "client_id": .string(try row.get("client_id")), "scope": .string(try row.get("scope")),
                    "given_at": try row.utc("created_at"), "changed_at": try row.utc("updated_at"),
                ])
            })
    }
}

extension Agreements {
    /// Those without a client are with the platform.
    static let export = StoredTable.Export.member("agreements") { user, db in
        .array(
            try db.rows(
                "SELECT client_id, terms_uri, accepted_at FROM agreements WHERE user_id = \(user)"
            ).map { row in
                let client: String = try row.get("client_id")
                return .members([
                    "client_id": client.isEmpty ? nil : .string(client), "terms": .string(try row.get("terms_uri")),
                    "accepted_at": try row.utc("accepted_at"),
                ])
            })
    }
}

extension TokenFamilies {
    /// Includes the ended ones, as long as they are kept.
    static let export = StoredTable.Export.member("permissions") { user, db in
        .array(
            try ["ended_at IS NULL", "ended_at IS NOT NULL"].flatMap { (ended: SQL) in
                try db.rows(
                    """
                    SELECT client_id, scope, signed_in_at, created_at, expires_at, ended_at FROM token_families
                    WHERE user_id = \(user) AND \(ended) LIMIT \(StoredTable.Export.most)
                    """)
            }.map { row in
                .members([
                    "client_id": .string(try row.get("client_id")), "scope": .string(try row.get("scope")),
                    "signed_in_at": try row.utc("signed_in_at"), "made_at": try row.utc("created_at"),
                    "expires_at": try row.utc("expires_at"), "ended_at": try row.utc("ended_at"),
                ])
            })
    }
}

extension SessionClients {
    static let export = StoredTable.Export.member("session_clients") { user, db in
        .array(
            try db.rows(
                """
                SELECT l.client_id, l.left_at FROM session_clients l JOIN sessions s ON s.id = l.session_id
                WHERE s.user_id = \(user) LIMIT \(StoredTable.Export.most)
                """
            ).map { row in
                .members([
                    "client_id": .string(try row.get("client_id")), "signed_out_at": try row.utc("left_at"),
                ])
            })
    }
}
