import Directory
import JSON
import Storage

extension Verifications {
    private static let exported: SQL.Columns = "purpose, email, phone, created_at, expires_at, spent_at"

    /// Includes those that wait at the user's address and name no user.
    static let export = StoredTable.Export.member("pending_verifications") { user, db in
        let most = StoredTable.Export.most
        var pending = try db.rows(
            "SELECT \(exported) FROM verifications WHERE user_id = \(user) LIMIT \(most)")
        if let email = try User.find(user, in: db)?.email {
            pending += try db.rows(
                "SELECT \(exported) FROM verifications WHERE email = \(email) AND user_id IS NULL LIMIT \(most)")
        }
        return .array(
            try pending.map { row in
                .members([
                    "purpose": .string(try row.get("purpose")), "email": .string(try row.get("email")),
                    "phone_number": try row.get("phone", as: String?.self).map { .string($0) },
                    "made_at": try row.utc("created_at"), "expires_at": try row.utc("expires_at"),
                    "used_at": try row.utc("spent_at"),
                ])
            })
    }
}
