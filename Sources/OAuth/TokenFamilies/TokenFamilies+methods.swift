import Directory
import Storage
import Values

/// Token families by the method of the sign-in that they come from.
extension TokenFamilies {
    /// Ends those of `user` that were got by `method`, except in the browser session `kept`, and what came from them:
    /// by exchange codes, and in the browser sessions that they bought, while these are kept. Those say no method of
    /// their own.
    static func end(
        of user: UserID, gotBy method: Session.Method, except kept: Session.ID?,
        telling announcement: CallbackAnnouncement, in db: any Transaction
    ) throws {
        var children: [String: [String]] = [:]
        var open: [String] = []
        var live: Set<String> = []
        // Also those that have ended: what came from them may live.
        for row in try db.rows(
            """
            SELECT f.id, f.method, f.ended_at, COALESCE(f.sid, f.session_id) AS got_in,
                f.parent_id, f.ancestors, s.family_id
            FROM token_families f LEFT JOIN sessions s ON s.id = COALESCE(f.sid, f.session_id)
            WHERE f.user_id = \(user)
            """
        ) {
            let id: String = try row.get("id")
            let session: String? = try row.get("got_in")
            if try row.get("ended_at", as: Timestamp?.self) == nil { live.insert(id) }
            let buyer: String? = try row.get("family_id")
            for parent in try ancestors(row) + (buyer.map { [$0] } ?? []) { children[parent, default: []].append(id) }
            let isKept = session != nil && session == kept?.text
            if try row.get("method", as: String?.self) == method.rawValue, !isKept { open.append(id) }
        }
        let ending = reached(from: open, by: children).intersection(live)
        try end(families: Array(ending), of: user, telling: announcement, in: db)
    }
}
