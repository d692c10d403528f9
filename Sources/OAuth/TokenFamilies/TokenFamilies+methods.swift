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
        // Also those that have ended: what came from them may live.
        let rows = try db.rows(
            """
            SELECT f.id, f.method, f.ended_at, COALESCE(f.sid, f.session_id) AS got_in,
                f.parent_id, f.ancestors, s.family_id
            FROM token_families f LEFT JOIN sessions s ON s.id = COALESCE(f.sid, f.session_id)
            WHERE f.user_id = \(user)
            """)
        let open = try rows.filter { row in
            let session: String? = try row.get("got_in")
            let isKept = session != nil && session == kept?.text
            return try !isKept && row.get("method", as: String?.self) == method.rawValue
        }.map { try $0.get("id", as: String.self) }
        guard !open.isEmpty else { return }
        var children = try children(rows)
        for row in rows {
            guard let buyer = try row.get("family_id", as: String?.self) else { continue }
            children[buyer, default: []].append(try row.get("id"))
        }
        let ending = try reached(from: open, by: children).intersection(live(rows))
        try end(families: Array(ending), of: user, telling: announcement, in: db)
    }
}
