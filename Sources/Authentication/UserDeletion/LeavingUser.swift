public import Storage
public import Values

/// A user who has just authenticated while waiting for deletion, as they were at that moment.
public struct LeavingUser: Sendable, Equatable {
    public let id: UserID
    /// When the user will be deleted.
    public let dueAt: Timestamp
    let email: String
    private let isVerified: Bool
    private let isDisabled: Bool
    private let hash: String

    /// Nil for a user who is not waiting for deletion. Must run in the transaction that decides who authenticated.
    public init?(_ id: UserID, in db: any Transaction) throws {
        let row = try db.rows(
            """
            SELECT deletion_due_at, COALESCE(email, '') AS email, email_verified, disabled_at,
                COALESCE(password_hash, '') AS hash
            FROM users WHERE id = \(id) AND deletion_due_at IS NOT NULL
            """
        ).first
        guard let row else { return nil }
        self.id = id
        dueAt = try row.get("deletion_due_at")
        email = try row.get("email")
        isVerified = try row.get("email_verified")
        isDisabled = try row.get("disabled_at", as: Timestamp?.self) != nil
        hash = try row.get("hash")
    }

    /// Whether the user may still cancel the deletion. A new password, the first proof of the address, another address,
    /// disabling and another request for deletion end everything that was open, and a sign-in in progress must not
    /// outrun them. Must run in the transaction that lets the user continue.
    func holds(in db: any Transaction) throws -> Bool { try !isDisabled && LeavingUser(id, in: db) == self }
}
