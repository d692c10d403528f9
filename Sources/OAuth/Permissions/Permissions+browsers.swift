public import Storage
public import Values

/// Browser sessions of a person, as those know them who know no sessions.
public enum BrowserSessions: Sendable {
    case one(String)
    case all(except: String?)
}

/// What the end of a browser session means to the clients that somebody signed in to there.
extension Permissions {
    /// Ends what was to last as long as `browsers` did, and tells the clients, by way of `announcement`.
    ///
    /// A permission for OpenID Connect without `offline_access` is for while the person is there (Back-Channel Logout
    /// §2.7, OpenID Connect Core §11). Every other lives on: a phone stays signed in when a browser is signed out. A client
    /// whose tokens have expired may have a session of its own all the same: it is told.
    public static func end(
        with browsers: BrowserSessions, of account: AccountID, telling announcement: CallbackAnnouncement,
        in db: any Transaction
    ) throws {
        var told: Set<[String]> = []
        for row in try rows(of: browsers, account, in: db) {
            let client: Client.ID = try row.get("client_id")
            let session: String = try row.get("session_id")
            let scope: Scope = try row.get("scope")
            if told.insert([client.text, session]).inserted,
                try Clients.findLive(client, in: db)?.openID.backChannelLogoutURI != nil
            {
                try announcement.leaveNotice(of: session, account, for: client, db)
            }
            let permission: Permission.ID = try row.get("id")
            if scope.contains(Scope.openID), !scope.contains(Scope.offlineAccess) {
                try end(permission, at: announcement.now, in: db)
            } else {
                // It belongs to no browser any more: its clients have been told.
                try db.execute("UPDATE permissions SET session_id = NULL WHERE id = \(permission)")
            }
        }
    }

    /// What was given in `browsers` and has not been ended.
    private static func rows(
        of browsers: BrowserSessions, _ account: AccountID, in db: any Transaction
    ) throws -> [Row] {
        switch browsers {
        case .one(let session):
            try db.rows(
                """
                SELECT id, client_id, session_id, scope FROM permissions
                WHERE session_id = \(session) AND account_id = \(account) AND ended_at IS NULL
                """)
        case .all(let kept):
            try db.rows(
                """
                SELECT id, client_id, session_id, scope FROM permissions
                WHERE account_id = \(account) AND session_id IS NOT NULL AND session_id <> \(kept ?? "")
                    AND ended_at IS NULL
                """)
        }
    }

    /// The sessions that `permission` bought, which end with it.
    static func endBought(
        by permission: Permission.ID, telling announcement: CallbackAnnouncement, in db: any Transaction
    ) throws {
        let bought = try db.rows(
            """
            SELECT id, account_id FROM sessions
            WHERE permission_id = \(permission) AND ended_at IS NULL AND expires_at > \(announcement.now)
            """)
        for row in bought {
            try end(with: .one(row.get("id")), of: row.get("account_id"), telling: announcement, in: db)
        }
    }
}
