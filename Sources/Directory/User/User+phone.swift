import JSON
package import Storage
package import Values

/// The verified phone number, each time in the caller's transaction.
extension User {
    /// The user who has proved to read text messages to `phone`.
    package static func find(_ phone: PhoneNumber, in db: any Transaction) throws -> User? {
        try db.rows("SELECT \(columns) FROM users WHERE verified_phone = \(phone)").first.map(User.init)
    }

    /// Makes `phone` the user's verified number, and the one of the profile. Throws `StorageError.conflict` when
    /// another user has it. False when there is no such user, or when the user's address is not verified, so that their
    /// identity is unproved.
    package static func verify(
        _ phone: PhoneNumber, of id: UserID, at now: Timestamp, in db: any Transaction
    ) throws -> Bool {
        guard let user = try find(id, in: db), user.emailVerified, user.disabledAt == nil, user.deletionDueAt == nil
        else { return false }
        let others = (user.profile.members ?? []).filter { $0.name != phoneNumber }
        let profile = JSON.object(others + [.init(phoneNumber, .string(phone.text))])
        return try db.execute(
            """
            UPDATE users SET verified_phone = \(phone), phone_verified_at = \(now), profile = \(profile.text),
                updated_at = \(now)
            WHERE id = \(id)
            """) == 1
    }

    /// Removes the verification. The profile keeps its number.
    package static func forgetPhone(of id: UserID, at now: Timestamp, in db: any Transaction) throws {
        try db.execute(
            """
            UPDATE users SET verified_phone = NULL, phone_verified_at = NULL, updated_at = \(now)
            WHERE id = \(id) AND verified_phone IS NOT NULL
            """)
    }
}
