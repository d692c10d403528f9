import Directory
import Storage
import Values

extension CallbackAnnouncement {
    /// Leaves a logout notice for each site that took part in those sessions of `user` that have not expired, and still
    /// knows the user: a session that is renewed again and again may outlive a site, whose id another then has. A
    /// disabled site gets one too: it is told if it is enabled within a day (`LogoutTokens`).
    func tellSites(
        of sessions: [Session.ID], of user: UserID, at now: Timestamp, _ db: any Transaction, where which: SQL = .always
    ) throws {
        var clients: [Client.ID: Client?] = [:]
        for some in Rows.some(of: sessions) {
            for row in try db.rows(
                """
                SELECT n.session_id, n.client_id FROM session_clients n JOIN sessions s ON s.id = n.session_id
                WHERE n.session_id IN (\(list: some)) AND s.expires_at > \(now)
                    AND NOT \(SessionClients.isLeft) AND \(which)
                    AND EXISTS (SELECT 1 FROM connections k WHERE k.user_id = s.user_id AND k.client_id = n.client_id)
                """)
            {
                let id: Client.ID = try row.get("client_id")
                let known = try clients[id] ?? Clients.find(id, in: db)
                clients[id] = known
                guard let client = known, client.openID.backChannelLogoutURI != nil else { continue }
                try leaveNotice(of: try row.get("session_id"), user, for: client, db)
            }
        }
    }
}
