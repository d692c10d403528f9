import Directory
import JSON
import Storage

extension Verifications {
    /// Includes those that wait at the user's address without knowing the user.
    static let export = StoredTable.Export.member("pending_verifications") { user, db in
        var pending = try db.rows(
            "SELECT purpose, email, created_at, expires_at, spent_at FROM verifications WHERE user_id = \(user)")
        if let email = try User.find(user, in: db)?.email {
            pending += try db.rows(
                """
                SELECT purpose, email, created_at, expires_at, spent_at FROM verifications
                WHERE email = \(email) AND user_id IS NULL
                """)
        }
        return .array(
            try pending.map { row in
                .members([
                    "purpose": .string(try row.get("purpose")), "email": .string(try row.get("email")),
                    "made_at": try row.utc("created_at"), "expires_at": try row.utc("expires_at"),
                    "used_at": try row.utc("spent_at"),
                ])
            })
    }
}
