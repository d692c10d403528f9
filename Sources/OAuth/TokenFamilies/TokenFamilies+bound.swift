import Directory
import Storage
import Values

extension TokenFamilies {
    /// How many permissions of one person at one client live at a time. A person with all their devices has dozens.
    static let most = 1000

    /// Ends the oldest permissions of a person at a client beyond `most`: whoever signs in in a loop would otherwise leave
    /// behind what one sign-out has to go through in a single transaction.
    ///
    /// Looks when one of 256 is stored, which its random id decides, so that a sign-in does not pay for the count. There are
    /// therefore some hundreds more at times.
    static func endOldest(for family: NewTokenFamily, of user: UserID, in db: any Transaction) throws {
        guard family.id.text.hasSuffix("00") else { return }
        let now = family.createdAt
        let live = try db.rows(
            """
            SELECT id, created_at FROM token_families
            WHERE user_id = \(user) AND client_id = \(family.client) AND ended_at IS NULL AND expires_at > \(now)
            """
        ).map {
            (id: try $0.get("id", as: TokenFamily.ID.self), createdAt: try $0.get("created_at", as: Timestamp.self))
        }
        guard live.count > most else { return }
        for old in live.sorted(by: { $0.createdAt < $1.createdAt }).prefix(live.count - most) {
            try end(old.id, at: now, in: db)
        }
    }
}
