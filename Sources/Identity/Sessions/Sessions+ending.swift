import Storage
import Values

/// The end of sessions by somebody's wish, which others hear of.
extension Sessions {
    /// A session that is still good, before it ends.
    struct Live {
        let account: AccountID
        /// What bought it; nil where the person signed in.
        let permission: String?
    }

    /// The session `id`, unless it has ended or expired, or what bought it has.
    static func live(_ id: Session.ID, at now: Timestamp, in db: any Transaction) throws -> Live? {
        try db.rows(
            """
            SELECT s.account_id, s.permission_id FROM sessions s LEFT JOIN permissions p ON p.id = s.permission_id
            WHERE s.id = \(id) AND s.ended_at IS NULL AND s.expires_at > \(now) AND p.ended_at IS NULL
            """
        ).first.map { row in
            Live(account: try row.get("account_id"), permission: try row.get("permission_id"))
        }
    }

    /// Ends a session and says so: once, and not of one that had ended by itself.
    static func end(
        _ id: Session.ID, at now: Timestamp, in db: any Transaction, _ announcement: PersonNews.Announcement
    ) throws {
        let live = try live(id, at: now, in: db)
        guard try end(id, at: now, in: db), let live else { return }
        try announcement.say(.signedOut(permission: live.permission), live.account, db)
    }

    /// Ends a session without a word: its browser has another. Returns whether this did.
    @discardableResult
    static func end(_ id: Session.ID, at now: Timestamp, in db: any Transaction) throws -> Bool {
        try db.execute("UPDATE sessions SET ended_at = \(now) WHERE id = \(id) AND ended_at IS NULL") == 1
    }
}
