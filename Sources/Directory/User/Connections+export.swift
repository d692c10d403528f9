import JSON
import Storage

extension Connections {
    static let export = StoredTable.Export.member("connections") { user, db in
        .array(
            try db.rows(
                """
                SELECT k.client_id, c.name, m.name AS merchant_name, k.created_at
                FROM connections k JOIN clients c ON c.id = k.client_id LEFT JOIN merchants m ON m.id = c.merchant_id
                WHERE k.user_id = \(user)
                """
            ).map { row in
                .members([
                    "client_id": .string(try row.get("client_id")), "client_name": .string(try row.get("name")),
                    "merchant_name": try row.get("merchant_name", as: String?.self).map { .string($0) },
                    "since": try row.utc("created_at"),
                ])
            })
    }
}
