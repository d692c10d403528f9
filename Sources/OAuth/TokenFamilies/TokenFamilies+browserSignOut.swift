public import Directory
public import Storage
public import Values

/// Browser sessions of a user, for modules that know no sessions.
public enum BrowserSessions: Sendable {
    case one(Session.ID)
    case all(except: Session.ID?)
}

/// What the end of a browser session means for the clients that the user signed in to there.
extension TokenFamilies {
    /// Ends what was to last as long as `browsers`, and tells the clients, through `announcement`.
    ///
    /// A token family for OpenID Connect, or of a third-party client, ends with the session unless the user allowed
    /// `offline_access` (Back-Channel Logout §2.7, OpenID Connect Core §11). So does one whose tokens came through the
    /// browser. Every other lives on: a phone stays signed in when a browser is signed out. A client whose tokens have
    /// expired or ended is told too, because it may have a session of its own; unless they were revoked by its user or
    /// merchant, which takes the session from the family.
    public static func end(
        with browsers: BrowserSessions, of user: UserID, telling announcement: CallbackAnnouncement,
        in db: any Transaction
    ) throws {
        try end(try rows(of: browsers, user, in: db), of: user, telling: announcement, in: db)
    }

    /// The same in one session, for `client` alone.
    static func end(
        with browsers: BrowserSessions, of user: UserID, for client: Client.ID,
        telling announcement: CallbackAnnouncement, in db: any Transaction
    ) throws {
        let own = try rows(of: browsers, user, in: db).filter { try $0.get("client_id", as: Client.ID.self) == client }
        try end(own, of: user, telling: announcement, in: db)
    }

    /// Also what was got in the browser sessions that tokens of `rows` bought, and theirs in turn.
    private static func end(
        _ rows: [Row], of user: UserID, telling announcement: CallbackAnnouncement, in db: any Transaction
    ) throws {
        var told: Set<[String]> = []
        var rows = rows
        // Asked once: few families buy a session, and a session may hold thousands of families.
        let buyers = try rows.isEmpty ? [] : buyers(of: user, in: db)
        while let row = rows.popLast() {
            let client: Client.ID = try row.get("client_id")
            let session: Session.ID = try row.get("session_id")
            if told.insert([client.text, session.text]).inserted,
                let client = try Clients.findLive(client, in: db), client.openID.backChannelLogoutURI != nil
            {
                try announcement.leaveNotice(of: session, user, for: client, db)
            }
            let family: TokenFamily.ID = try row.get("id")
            let hasEnded = try row.get("ended_at", as: Timestamp?.self) != nil
            // It belongs to no browser session any more: its client has been told.
            guard try !hasEnded && isForNow(row) else {
                try db.execute("UPDATE token_families SET session_id = NULL WHERE id = \(family)")
                continue
            }
            try db.execute(
                "UPDATE token_families SET session_id = NULL, ended_at = \(announcement.now) WHERE id = \(family)")
            guard buyers.contains(family) else { continue }
            rows += try Self.rows(boughtBy: family, of: user, at: announcement.now, in: db)
            try Sessions.endBought(by: family, at: announcement.now, in: db)
        }
        // What was got there before and has expired since: ID tokens may outlive it.
        for pair in told {
            try db.execute(
                """
                UPDATE token_families SET ended_at = \(announcement.now)
                WHERE user_id = \(user) AND client_id = \(pair[0]) AND sid = \(pair[1])
                    AND expires_at <= \(announcement.now) AND ended_at IS NULL
                """)
        }
    }

    /// Whether the token family in `row` lasts no longer than its session.
    private static func isForNow(_ row: Row) throws -> Bool {
        guard try !row.get("front_channel", as: Bool.self) else { return true }
        let scope: Scope = try row.get("scope")
        guard !scope.contains(Scope.offlineAccess) else { return false }
        let isOfThirdParty = try !row.get("first_party", as: Bool.self) && !row.get("spid_compatible", as: Bool.self)
        return isOfThirdParty || scope.contains(Scope.openID)
    }

    /// The token families of `browsers`, also those that have ended and have not been told of their session's end.
    private static func rows(
        of browsers: BrowserSessions, _ user: UserID, in db: any Transaction
    ) throws -> [Row] {
        switch browsers {
        case .one(let session):
            try db.rows(
                """
                SELECT p.id, p.client_id, p.session_id, p.ended_at, p.scope, p.front_channel, c.first_party,
                    c.spid_compatible
                FROM token_families p JOIN clients c ON c.id = p.client_id
                WHERE p.session_id = \(session) AND p.user_id = \(user)
                """)
        case .all(let kept):
            try db.rows(
                """
                SELECT p.id, p.client_id, p.session_id, p.ended_at, p.scope, p.front_channel, c.first_party,
                    c.spid_compatible
                FROM token_families p JOIN clients c ON c.id = p.client_id
                WHERE p.user_id = \(user) AND p.session_id IS NOT NULL AND p.session_id <> \(kept?.text ?? "")
                """)
        }
    }

    /// Does `work`, which ends `family`, and tells the clients of the browser sessions bought with it.
    static func tellingOfBought<Value>(
        by family: TokenFamily.ID, of user: UserID, _ announcement: CallbackAnnouncement, in db: any Transaction,
        work: () throws -> Value
    ) throws -> Value {
        // Read first: `work` may end the rows by which the clients are found.
        let left = try rows(boughtBy: family, of: user, at: announcement.now, in: db)
        let value = try work()
        try end(left, of: user, telling: announcement, in: db)
        return value
    }

    /// The token families that were got in the live browser sessions that `family` bought. The join begins with the
    /// sessions, which SQLite would not choose: a user may have thousands of families.
    private static func rows(
        boughtBy family: TokenFamily.ID, of user: UserID, at now: Timestamp, in db: any Transaction
    ) throws -> [Row] {
        try db.rows(
            """
            SELECT p.id, p.client_id, p.session_id, p.ended_at, p.scope, p.front_channel, c.first_party,
                c.spid_compatible
            FROM sessions s CROSS JOIN token_families p JOIN clients c ON c.id = p.client_id
            WHERE p.session_id = s.id AND s.family_id = \(family) AND s.ended_at IS NULL AND s.expires_at > \(now)
                AND p.user_id = \(user)
            """)
    }

    /// The token families that bought sessions of `user` which have not ended.
    private static func buyers(of user: UserID, in db: any Transaction) throws -> Set<TokenFamily.ID> {
        Set(
            try db.rows(
                """
                SELECT family_id FROM sessions
                WHERE user_id = \(user) AND family_id IS NOT NULL AND ended_at IS NULL
                """
            ).map { try $0.get("family_id") })
    }

    /// Does `work`, which ends token families of `user`, and tells the clients of the browser sessions bought with
    /// them, which end with their families.
    static func tellingOfBought<Value>(
        _ user: UserID, _ announcement: CallbackAnnouncement, in db: any Transaction, work: () throws -> Value
    ) throws -> Value {
        let now = announcement.now
        // Read first: `work` may end the rows by which the clients are found.
        let bought = try bought(by: user, in: db)
        let told = try bought.filter { $0.expiresAt > now }
            .map { (session: $0.id, rows: try rows(of: .one($0.id), user, in: db)) }
        let value = try work()
        guard !bought.isEmpty else { return value }
        try endBought(of: user, at: now, in: db)
        let left = Set(try Self.bought(by: user, in: db).map(\.id))
        for (session, rows) in told where !left.contains(session) {
            try end(rows, of: user, telling: announcement, in: db)
        }
        return value
    }

    /// The sessions that tokens of `user` bought and that have not ended, also expired ones: a request that still found
    /// one alive may be about to prolong it.
    private static func bought(
        by user: UserID, in db: any Transaction
    ) throws -> [(id: Session.ID, expiresAt: Timestamp)] {
        try db.rows(
            """
            SELECT id, expires_at FROM sessions
            WHERE user_id = \(user) AND family_id IS NOT NULL AND ended_at IS NULL
            """
        ).map { (try $0.get("id"), try $0.get("expires_at")) }
    }
}
