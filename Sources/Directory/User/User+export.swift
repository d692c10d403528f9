import JSON
import Storage
import Values

extension User {
    static let export: [StoredTable.Export] = [
        .member("account") { id, db in
            guard let user = try find(id, in: db) else { return .object([]) }
            let phoneVerifiedAt = try db.rows("SELECT phone_verified_at FROM users WHERE id = \(id)").first?
                .get("phone_verified_at", as: Timestamp?.self)
            let hasPassword = try !db.rows(
                "SELECT id FROM users WHERE id = \(id) AND password_hash IS NOT NULL"
            ).isEmpty
            return .members([
                "user_id": .string(id.description), "sub": user.subject.map { .string($0) },
                "email": user.email.map { .string($0) },
                "email_verified": .bool(user.emailVerified), "has_password": .bool(hasPassword),
                "verified_phone_number": user.verifiedPhone.map { .string($0.text) },
                "phone_number_verified_at": phoneVerifiedAt.map { .string($0.iso8601) },
                "created_at": .string(user.createdAt.iso8601), "updated_at": .string(user.updatedAt.iso8601),
                "disabled_at": user.disabledAt.map { .string($0.iso8601) },
                "deletion_due_at": user.deletionDueAt.map { .string($0.iso8601) },
            ])
        },
        .member("profile") { id, db in try find(id, in: db)?.profile ?? .object([]) },
        .member("attributes") { id, db in try find(id, in: db)?.attributes ?? .object([]) },
    ]
}
