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
        let isDeletedApps = if case .one(let session) = browsers { try isDeletedApps(session, in: db) } else { false }
        try end(
            gotIn: try rows(of: browsers, user, in: db), areBought: isDeletedApps, of: user, telling: announcement,
            in: db)
    }

    /// Whether tokens of an app that is being deleted bought `session`: they end too.
    private static func isDeletedApps(_ session: Session.ID, in db: any Transaction) throws -> Bool {
        try !db.rows(
            """
            SELECT s.id FROM sessions s JOIN clients c ON c.id = s.buyer_id
            WHERE s.id = \(session) AND c.deleted_at IS NOT NULL
            """
        ).isEmpty
    }

    /// The same in one session, for `client` alone.
    static func end(
        with browsers: BrowserSessions, of user: UserID, for client: Client.ID,
        telling announcement: CallbackAnnouncement, in db: any Transaction
    ) throws {
        let own = try rows(of: browsers, user, in: db).filter { try $0.get("client_id", as: Client.ID.self) == client }
        try end(gotIn: own, of: user, telling: announcement, in: db)
    }

    private static func end(
        gotIn rows: [Row], areBought: Bool = false, of user: UserID, telling announcement: CallbackAnnouncement,
        in db: any Transaction
    ) throws {
        let families = try rows.map { try $0.get("id", as: TokenFamily.ID.self) }
        let bought = try bought(by: families, at: announcement.now, in: db)
        try end(
            rows, areBought: areBought, bought, of: user, at: announcement.now, telling: announcement, in: db)
    }

    /// Also, of `bought`, what was got in the browser sessions that tokens of `rows` bought, and theirs in turn.
    /// Whoever has a token could get an app's tokens there for themselves: those end with it, also with
    /// `offline_access`.
    ///
    /// - Parameters:
    ///   - areBought: whether `rows` were got in such a session themselves.
    ///   - announcement: nil when the clients have been told.
    private static func end(
        _ rows: [Row], areBought: Bool = false, _ bought: [TokenFamily.ID: [Row]], of user: UserID, at now: Timestamp,
        telling announcement: CallbackAnnouncement?, in db: any Transaction
    ) throws {
        guard !rows.isEmpty else { return }
        var told: Set<[String]> = []
        var backends: [Client.ID: Bool] = [:]
        func isOfBackend(_ id: Client.ID, in db: any Transaction) throws -> Bool {
            if let known = backends[id] { return known }
            let isBackend = try Clients.find(id, in: db)?.isBackend == true
            backends[id] = isBackend
            return isBackend
        }
        var rows = rows.map { (row: $0, isBought: areBought) }
        var bought = bought
        while let (row, isBought) = rows.popLast() {
            let client: Client.ID = try row.get("client_id")
            let session: Session.ID? = try row.get("session_id")
            // A disabled one too: it is told when it is enabled, if that is within a day (`LogoutTokens`).
            if let session, told.insert([client.text, session.text]).inserted, let announcement,
                let client = try Clients.find(client, in: db), client.openID.backChannelLogoutURI != nil
            {
                try announcement.leaveNotice(of: session, user, for: client, db)
            }
            let family: TokenFamily.ID = try row.get("id")
            let hasEnded = try row.get("ended_at", as: Timestamp?.self) != nil
            // Whoever has an app's token can have what another app gets there, also by the secret that is in each copy.
            guard try !hasEnded && (isForNow(row) || isBought && !isOfBackend(client, in: db)) else {
                // It belongs to no browser session any more: its client has been told.
                if session != nil {
                    try db.execute("UPDATE token_families SET session_id = NULL WHERE id = \(family)")
                }
                continue
            }
            try db.execute(
                "UPDATE token_families SET session_id = NULL, ended_at = \(now) WHERE id = \(family)")
            rows += (bought.removeValue(forKey: family) ?? []).map { (row: $0, isBought: true) }
        }
        try endBought(of: user, at: now, in: db)
        // What was got there before and has expired since: ID tokens may outlive it.
        for pair in told {
            try db.execute(
                """
                UPDATE token_families SET ended_at = \(now)
                WHERE user_id = \(user) AND client_id = \(pair[0]) AND sid = \(pair[1])
                    AND expires_at <= \(now) AND ended_at IS NULL
                """)
        }
    }

    /// Whether the token family in `row` lasts no longer than its session.
    private static func isForNow(_ row: Row) throws -> Bool {
        guard try !row.get("front_channel", as: Bool.self) else { return true }
        let scope: Scope = try row.get("scope")
        // The client may have lost it since.
        let registered: Scope = try row.get("registered")
        guard !scope.contains(Scope.offlineAccess) || !registered.contains(Scope.offlineAccess) else { return false }
        let isOfThirdParty = try !row.get("first_party", as: Bool.self) && !row.get("spid_compatible", as: Bool.self)
        return isOfThirdParty || scope.contains(Scope.openID)
    }

    /// The token families of `browsers`, also those that have ended and have not been told of their session's end.
    private static func rows(
        of browsers: BrowserSessions, _ user: UserID, in db: any Transaction
    ) throws -> [Row] {
        switch browsers {
        case .one(let session): try rows("p.session_id = \(session) AND p.user_id = \(user)", in: db)
        case .all(let kept):
            try rows(
                """
                p.user_id = \(user) AND (p.session_id IS NOT NULL OR p.sid IS NOT NULL AND p.ended_at IS NULL)
                    AND COALESCE(p.session_id, p.sid) <> \(kept?.text ?? "")
                """, in: db)
        }
    }

    private static func rows(_ condition: SQL, in db: any Transaction) throws -> [Row] {
        try db.rows(
            """
            SELECT p.id, p.client_id, p.session_id, p.ended_at, p.scope, p.front_channel, c.first_party,
                c.spid_compatible, c.scope AS registered
            FROM token_families p JOIN clients c ON c.id = p.client_id
            WHERE \(condition)
            """)
    }

    /// Ends what `client` got in the browser session `sid` of the user `subject`, after it has expired: its user signs
    /// out at the client all the same. Does nothing while the session lives, perhaps in another browser; nor for a
    /// client with pairwise identifiers, whose `sid` leads to no session.
    public func logOut(ofExpired sid: String, subject: String, from client: Client, at now: Timestamp) async throws {
        guard !client.openID.isPairwise else { return }
        let left: @Sendable (any Transaction) throws -> (user: UserID, rows: [Row])? = { db in
            guard let user = try User.id(ofSubject: subject, in: db) ?? UserID(subject),
                try db.rows(
                    "SELECT id FROM sessions WHERE id = \(sid) AND ended_at IS NULL AND expires_at > \(now)"
                ).isEmpty
            else { return nil }
            let rows = try Self.rows(
                """
                p.user_id = \(user) AND p.client_id = \(client.id) AND COALESCE(p.sid, p.session_id) = \(sid)
                    AND p.ended_at IS NULL
                """, in: db)
            return rows.isEmpty ? nil : (user, rows)
        }
        // After most sign-outs nothing is left, and the write is everybody's.
        guard try await database.read({ db in try left(db) != nil }) else { return }
        let announcement = callbacks.announcement(at: now)
        try await database.write { db in
            guard let (user, rows) = try left(db) else { return }
            try Self.end(gotIn: rows, of: user, telling: announcement, in: db)
        }
        announcement.send()
    }

    /// Does `work`, which ends token families of `user`: no others than `ending`. Ends the browser sessions that they
    /// bought and, as above, what was got there, and tells the clients.
    static func tellingOfBought<Value>(
        _ user: UserID, ending: [TokenFamily.ID], _ announcement: CallbackAnnouncement,
        in db: any Transaction, work: () throws -> Value
    ) throws -> Value {
        // Read first: `work` may end the rows by which the clients are found.
        var bought = try bought(by: ending, at: announcement.now, in: db)
        let value = try work()
        try endBought(of: user, at: announcement.now, in: db)
        guard !bought.isEmpty else { return value }
        var left: [Row] = []
        for some in some(of: Array(bought.keys)) {
            for row in try db.rows(
                "SELECT id FROM token_families WHERE ended_at IS NOT NULL AND id IN (\(list: some))")
            {
                let buyer: TokenFamily.ID = try row.get("id")
                left += bought.removeValue(forKey: buyer) ?? []
            }
        }
        try end(left, areBought: true, bought, of: user, at: announcement.now, telling: announcement, in: db)
        return value
    }

    /// Ends the browser sessions that `family`, which lives on, has bought, and what was got there, as above.
    static func endBought(
        by family: TokenFamily.ID, of user: UserID, telling announcement: CallbackAnnouncement,
        in db: any Transaction
    ) throws {
        var rest = try bought(by: [family], at: announcement.now, in: db)
        let left = rest.removeValue(forKey: family) ?? []
        try end(left, areBought: true, rest, of: user, at: announcement.now, telling: announcement, in: db)
        try Sessions.endBought(by: family, at: announcement.now, in: db)
    }

    /// The live families of `user` for which `condition` holds.
    static func live(of user: UserID, _ condition: SQL, in db: any Transaction) throws -> [TokenFamily.ID] {
        try db.rows("SELECT id FROM token_families WHERE user_id = \(user) AND \(condition) AND ended_at IS NULL")
            .map { try $0.get("id") }
    }

    /// Ends, as above, what was got in the browser sessions that tokens of a deleted client's `families` bought: these
    /// rows are about to go. Live sessions ended before (`end(with:of:telling:in:)`), and their clients were told.
    static func endBought(byDeleted families: [Row], in db: any Transaction) throws {
        let buyers = try families.map { row -> (user: UserID?, id: TokenFamily.ID, now: Timestamp?) in
            (try row.get("user_id"), try row.get("id"), try row.get("deleted_at"))
        }
        guard let now = buyers.first?.now else { return }
        let bought = try bought(by: buyers.map(\.id), at: now, in: db)
        for (user, own) in Dictionary(grouping: buyers, by: \.user) {
            var rest = bought
            let left = own.flatMap { rest.removeValue(forKey: $0.id) ?? [] }
            guard let user, !left.isEmpty else { continue }
            try end(left, areBought: true, rest, of: user, at: now, telling: nil, in: db)
        }
    }

    /// `families` in parts for one statement each.
    static func some<ID>(of families: [ID]) -> [[ID]] {
        stride(from: 0, to: families.count, by: most).map { start in
            Array(families[start..<min(start + most, families.count)])
        }
    }

    /// The token families that were got in browser sessions which tokens of live ones of `families` bought, by these,
    /// and theirs in turn. Only what is there is read, and most of it ends: a user may have thousands that bought none.
    ///
    /// What was got there outlives a session that nobody used for hours, and its row. Only a live session is named, to
    /// be told of. One in which the user has signed in since rests on no family.
    private static func bought(
        by families: [TokenFamily.ID], at now: Timestamp, in db: any Transaction
    ) throws -> [TokenFamily.ID: [Row]] {
        var bought: [TokenFamily.ID: [Row]] = [:]
        var open = families
        // A user may have built a long chain: each family is asked for once, also where all of them begin.
        var seen = Set(families)
        while !open.isEmpty {
            var next: [TokenFamily.ID] = []
            for some in some(of: open) {
                for row in try db.rows(
                    """
                    SELECT p.id, p.parent_id, p.client_id, p.ended_at, p.scope, p.front_channel, c.first_party,
                        c.spid_compatible, c.scope AS registered,
                        CASE WHEN s.ended_at IS NULL AND s.expires_at > \(now) THEN p.session_id END AS session_id
                    FROM token_families p
                    JOIN clients c ON c.id = p.client_id JOIN token_families f ON f.id = p.parent_id
                    LEFT JOIN sessions s ON s.id = COALESCE(p.sid, p.session_id)
                    WHERE p.parent_id IN (\(list: some)) AND p.parent_id IS NOT NULL
                        AND COALESCE(p.sid, p.session_id) IS NOT NULL
                        AND f.ended_at IS NULL AND (p.session_id IS NOT NULL OR p.ended_at IS NULL)
                        AND (s.id IS NULL OR s.family_id = p.parent_id)
                    """)
                {
                    bought[try row.get("parent_id"), default: []].append(row)
                    let id: TokenFamily.ID = try row.get("id")
                    if seen.insert(id).inserted { next.append(id) }
                }
            }
            open = next
        }
        return bought
    }
}
