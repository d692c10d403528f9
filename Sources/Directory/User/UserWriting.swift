package import JSON
package import Storage
package import Values

/// Every write to the table of users, each in its caller's transaction.
extension User {
    /// Stores a new user. Throws `StorageError.conflict` when the e-mail address or the `sub` is
    /// taken.
    package static func insert(_ user: User, passwordHash: String?, in db: any Transaction) throws {
        try db.execute(
            """
            INSERT INTO users (id, email, email_verified, password_hash, profile, created_at, updated_at,
                disabled_at, attributes, subject, search_name)
            VALUES (\(user.id), \(user.email), \(user.emailVerified), \(passwordHash),
                \(user.profile.text), \(user.createdAt), \(user.updatedAt), \(user.disabledAt),
                \(user.attributes.text), \(user.subject), \(SearchName(of: user.profile)))
            """)
    }

    /// Stores all members that administration may change. Without `passwordHash` the old hash stays.
    package static func update(_ user: User, passwordHash: String?, in db: any Transaction) throws {
        try db.execute(
            """
            UPDATE users SET email = \(user.email), email_verified = \(user.emailVerified),
                password_hash = COALESCE(\(passwordHash), password_hash), profile = \(user.profile.text),
                search_name = \(SearchName(of: user.profile)), updated_at = \(user.updatedAt),
                disabled_at = \(user.disabledAt), attributes = \(user.attributes.text)
            WHERE id = \(user.id)
            """)
    }

    /// False when there is no such user.
    package static func setProfile(
        _ profile: JSON, of id: UserID, at now: Timestamp, in db: any Transaction
    ) throws -> Bool {
        try db.execute(
            """
            UPDATE users SET profile = \(profile.text), search_name = \(SearchName(of: profile)), updated_at = \(now)
            WHERE id = \(id)
            """) == 1
    }

    /// Sets the password hash; nil removes the password.
    package static func setPasswordHash(
        _ hash: String?, of id: UserID, at now: Timestamp, in db: any Transaction
    ) throws {
        try db.execute("UPDATE users SET password_hash = \(hash), updated_at = \(now) WHERE id = \(id)")
    }

    /// Replaces the hash of the same password. Nothing visible changes, so `updated_at` stays.
    package static func rehash(
        _ id: UserID, from old: String, to new: String, in db: any Transaction
    ) throws {
        try db.execute("UPDATE users SET password_hash = \(new) WHERE id = \(id) AND password_hash = \(old)")
    }

    /// Marks `email` as verified. False when it is no longer the user's address.
    package static func verify(
        _ email: String, of id: UserID, at now: Timestamp, in db: any Transaction
    ) throws -> Bool {
        try db.execute(
            "UPDATE users SET email_verified = 1, updated_at = \(now) WHERE id = \(id) AND email = \(email)") == 1
    }

    /// Like `verify`, but only for a user who is not disabled, and `updated_at` stays.
    package static func verifyLive(
        _ email: String, of id: UserID, in db: any Transaction
    ) throws -> Bool {
        try db.execute(
            """
            UPDATE users SET email_verified = 1 WHERE id = \(id) AND email = \(email) AND disabled_at IS NULL
            """) == 1
    }

    /// Sets a new password for the enabled user with the address `email`, and marks the address as verified. False for
    /// any other user.
    package static func resetPassword(
        _ hash: String, of id: UserID, reading email: String, at now: Timestamp, in db: any Transaction
    ) throws -> Bool {
        try db.execute(
            """
            UPDATE users SET password_hash = \(hash), email_verified = 1, updated_at = \(now)
            WHERE id = \(id) AND email = \(email) AND disabled_at IS NULL
            """) == 1
    }

    /// Sets a verified address. Throws `StorageError.conflict` when it is taken.
    package static func setVerifiedEmail(
        _ email: String, of id: UserID, at now: Timestamp, in db: any Transaction
    ) throws -> Bool {
        try db.execute(
            "UPDATE users SET email = \(email), email_verified = 1, updated_at = \(now) WHERE id = \(id)") == 1
    }

    package static func scheduleDeletion(of id: UserID, at due: Timestamp, in db: any Transaction) throws {
        try db.execute("UPDATE users SET deletion_due_at = \(due) WHERE id = \(id)")
    }

    /// Cancels a deletion that is not due yet.
    package static func cancelDeletion(of id: UserID, at now: Timestamp, in db: any Transaction) throws {
        try db.execute("UPDATE users SET deletion_due_at = NULL WHERE id = \(id) AND deletion_due_at > \(now)")
    }

    /// Deletes a user whose deletion is due. Returns whether it did.
    package static func delete(_ id: UserID, dueBy now: Timestamp, in db: any Transaction) throws -> Bool {
        try db.execute("DELETE FROM users WHERE id = \(id) AND deletion_due_at <= \(now)") == 1
    }
}
