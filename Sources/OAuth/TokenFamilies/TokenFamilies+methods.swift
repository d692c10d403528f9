import Directory
import Storage
import Values

/// Token families by the method of the sign-in that they come from.
extension TokenFamilies {
    /// Ends those of `user` that were got by `method`, except in the browser session `kept`, and what came from them:
    /// by exchange codes, and in the browser sessions that they bought, while these are kept. Those say no method of
    /// their own, but in which way the first of them was opened, also when that is forgotten.
    static func end(
        of user: UserID, gotBy method: Session.Method, except kept: Session.ID?,
        telling announcement: CallbackAnnouncement, in db: any Transaction
    ) throws {
        // Also those that have ended: what came from them may live.
        let rows = try db.rows(
            """
            SELECT f.id, f.method, f.opened_by, f.ended_at, COALESCE(f.sid, f.session_id) AS got_in,
                f.parent_id, f.ancestors, s.family_id
            FROM token_families f LEFT JOIN sessions s ON s.id = COALESCE(f.sid, f.session_id)
            WHERE f.user_id = \(user)
            """)
        var (open, keptFamilies, opened): ([String], [String], [String]) = ([], [], [])
        for row in rows {
            let (id, session): (String, String?) = (try row.get("id"), try row.get("got_in"))
            if session != nil, session == kept?.text {
                keptFamilies.append(id)
            } else if try row.get("method", as: String?.self) == method.rawValue {
                open.append(id)
            } else if try row.get("opened_by", as: String?.self) == method.rawValue {
                opened.append(id)
            }
        }
        guard !open.isEmpty || !opened.isEmpty else { return }
        var children = try children(rows)
        for row in rows {
            guard let buyer = try row.get("family_id", as: String?.self) else { continue }
            children[buyer, default: []].append(try row.get("id"))
        }
        let reachedByKept = reached(from: keptFamilies, by: children)
        open += opened.filter { !reachedByKept.contains($0) }
        let ending = try reached(from: open, by: children).intersection(live(rows))
        try end(families: Array(ending), of: user, telling: announcement, in: db)
    }
}
