import Directory
import Storage
import Values

extension Ending {
    /// Ends what ends by `cause`, marks it, and notifies the sites that took part in sessions that ended.
    ///
    /// An end is a permanent mark on a row. It changes or holds the row that a redemption holds, the family that bought
    /// the code, so that one of the two sees the other.
    /// - Parameter announcement: nil where no session can be live.
    static func carryOut(
        _ cause: UserEvent, of user: UserID, telling announcement: CallbackAnnouncement?, at now: Timestamp,
        in db: any Transaction
    ) throws {
        var ends = Ends(user: user, now: now, announcement: announcement, db: db)
        switch cause {
        case .familiesEnd(let ids): try ends.take(families: "f.id IN (\(list: ids))")
        case .clientEnds(let client):
            try ends.take(families: "f.user_id = \(user) AND f.client_id = \(client)")
            try ends.take(buyersOf: "s.user_id = \(user) AND s.buyer_id = \(client)")
            try ends.take(sessions: "s.user_id = \(user) AND s.client_id = \(client)")
            ends.revoked = "client_id = \(client)"
        case .removed(let merchant):
            let clients = Clients.vouchedFor(by: merchant)
            try ends.take(families: "f.user_id = \(user) AND f.client_id IN (\(clients))")
            try ends.take(buyersOf: "s.user_id = \(user) AND s.buyer_id IN (\(clients))")
            ends.revoked = "client_id IN (\(clients))"
        case .disconnected(let merchant):
            try ends.take(
                sessions: """
                    s.user_id = \(user) AND (\(Issuers.merchant) = \(merchant) OR s.path IS NOT NULL
                        AND s.client_id IN (SELECT id FROM clients WHERE merchant_id = \(merchant)))
                    """)
        case .sessionsEnd(let ids): try ends.take(sessions: "s.id IN (\(list: ids))")
        case .allSessionsEnd(let kept):
            // Includes families got in sessions that have expired.
            let others = kept?.text ?? ""
            try ends.take(passing: "f.user_id = \(user) AND f.session_id IS NOT NULL AND f.session_id <> \(others)")
            try ends.take(sessions: "s.user_id = \(user) AND s.id <> \(others)", withTokens: false)
        case .clientLeft(let client, let session):
            try ends.take(passing: "f.session_id = \(session) AND f.client_id = \(client)")
            try announcement?.tellSites(of: [session], of: user, at: now, db, where: "n.client_id = \(client)")
        case .accessRevoked(let kept):
            try ends.take(sessions: "s.user_id = \(user) AND s.id <> \(kept?.text ?? "")", withTokens: false)
            try db.execute("UPDATE token_families SET ended_at = \(now) WHERE user_id = \(user) AND ended_at IS NULL")
        case .methodRevoked(let method, let kept):
            try ends.take(except: kept, families: "f.method = \(method.rawValue)", "s.method = \(method.rawValue)")
        case .unlinked(let issuer, let kept, _):
            try ends.take(except: kept, families: "f.issuer_id = \(issuer)", "s.issuer_id = \(issuer)")
        case .signedUp, .changed, .signedOut, .takenOver, .linked, .connectionsEnding, .deleted: return
        }
        try ends.carryOut()
    }

    /// Ends the family `id` because its user signs out of that app. With `reached`, its descendants read before this
    /// transaction, also ends what backends got.
    static func signOut(
        _ id: TokenFamily.ID, of user: UserID, reaching reached: [Family]?, telling announcement: CallbackAnnouncement,
        in db: any Transaction
    ) throws {
        var ends = Ends(user: user, now: announcement.now, announcement: announcement, db: db)
        try ends.take(families: "f.id = \(id)")
        if let reached, let path = ends.roots.first {
            ends.reachesBackends = true
            // A redemption may have stored a family since `reached` was read.
            let young = try Rows.families(
                "f.user_id = \(user) AND \(Rows.below(path)) AND f.created_at >= \(announcement.now - skew)", in: db)
            ends.reached = reached + young
        }
        try ends.carryOut()
    }

    /// Marks families as ended: those of a client acting for itself, which have no descendants, and those that were
    /// decided.
    static func mark(_ families: [TokenFamily.ID], at now: Timestamp, in db: any Transaction) throws {
        for some in Rows.some(of: families) {
            try db.execute(
                "UPDATE token_families SET ended_at = \(now) WHERE id IN (\(list: some)) AND ended_at IS NULL")
        }
    }

    /// How far the clock of the node that stores a family may lag behind that of the node that searches for it.
    private static let skew: Duration = .minutes(5)

    /// The events that end something, each with what it ends. Disabling a client, merchant or issuer ends nothing: what
    /// rests on it waits until it is enabled (`Standing`).
    static let causes: [(kind: UserEvent.Kind, summary: String)] = [
        (.sessionsEnd, "ends those sessions and what lasts no longer, and tells their sites"),
        (.allSessionsEnd, "ends the sessions and what lasts no longer, and tells their sites"),
        (.clientLeft, "ends what lasts no longer than the session, and tells the client"),
        (.familiesEnd, "ends those token families and the web views that they bought, and tells their sites"),
        (.clientEnds, "ends the client's token families and web views, and tells the sites of these"),
        (.removed, "ends the token families of the merchant's clients, and tells the sites of their web views"),
        (.accessRevoked, "ends every token family and session, except the session of the request, and tells the sites"),
        (.unlinked, "ends what rests on that issuer, except the session of the request and what came from it"),
        (.methodRevoked, "ends what rests on that method, except the session of the request and what came from it"),
        (.disconnected, "ends the sessions that are good for that merchant alone, and its web views"),
    ]
}

/// What ends in one transaction, for one user.
private struct Ends {
    let user: UserID
    let now: Timestamp
    let announcement: CallbackAnnouncement?
    let db: any Transaction

    var roots: Set<TokenFamily.Path> = []
    var reachesBackends = false
    /// The descendants of the roots; nil if they are not read yet.
    var reached: [Ending.Family]?
    /// The sessions that end.
    var sessions: Set<Session.ID> = []
    /// Which of the user's rows of `session_clients` are deleted, because their client lost the user.
    var revoked: SQL?

    init(user: UserID, now: Timestamp, announcement: CallbackAnnouncement?, db: any Transaction) {
        self.user = user
        self.now = now
        self.announcement = announcement
        self.db = db
    }

    mutating func take(families condition: SQL) throws {
        roots.formUnion(try Rows.paths(condition, in: db))
    }

    /// Adds the families that bought these web views. Those families may be forgotten.
    mutating func take(buyersOf webViews: SQL) throws {
        roots.formUnion(try Rows.sessions(webViews, in: db).compactMap(\.path))
    }

    /// Adds the families that last no longer than their session.
    mutating func take(passing condition: SQL) throws {
        roots.formUnion(try Rows.families(condition, in: db).filter(\.isPassing).map(\.path))
    }

    /// Adds sessions, with the passing tokens that were got there.
    mutating func take(sessions condition: SQL, withTokens: Bool = true) throws {
        try take(try Rows.sessions(condition, in: db).map(\.id), withTokens: withTokens)
    }

    private mutating func take(_ ids: [Session.ID], withTokens: Bool = true) throws {
        sessions.formUnion(ids)
        guard withTokens else { return }
        for some in Rows.some(of: ids) { try take(passing: "f.session_id IN (\(list: some))") }
    }

    /// Adds what rests on a sign-in, except the session `kept`, the tokens got there and their descendants.
    mutating func take(except kept: Session.ID?, families: SQL, _ sessions: SQL) throws {
        let spared: [TokenFamily.Path] =
            if let kept {
                try db.rows("SELECT path FROM token_families WHERE user_id = \(user) AND session_id = \(kept)")
                    .map { try $0.get("path") }
            } else { [] }
        func isSpared(_ path: TokenFamily.Path) -> Bool { spared.contains { path.isWithin($0) } }
        roots.formUnion(try Rows.paths("f.user_id = \(user) AND \(families)", in: db).filter { !isSpared($0) })
        let resting = try Rows.sessions("s.user_id = \(user) AND \(sessions)", in: db).filter { session in
            session.id != kept && session.path.map { !isSpared($0) } ?? true
        }
        try take(resting.map(\.id))
    }

    mutating func carryOut() throws {
        if !roots.isEmpty {
            let ending = Ending(roots: roots, reachesBackends: reachesBackends)
            let below = try reached ?? Rows.families(below: Array(roots), in: db)
            let webViews = try Rows.sessions("s.user_id = \(user) AND s.path IS NOT NULL", in: db).compactMap {
                session in
                session.path.map { Ending.WebView(id: session.id, path: $0) }
            }
            let plan = ending.plan(below, webViews)
            sessions.formUnion(plan.sessions)
            try Ending.mark(plan.families, at: now, in: db)
        }
        try announcement?.tellSites(of: Array(sessions), of: user, at: now, db)
        for some in Rows.some(of: Array(sessions)) { try Sessions.mark(some, at: now, in: db) }
        if let revoked {
            try db.execute(
                """
                DELETE FROM session_clients WHERE session_id IN (SELECT id FROM sessions WHERE user_id = \(user))
                    AND \(revoked)
                """)
        }
    }
}

/// The rows that an end reads.
enum Rows {
    /// `ids` in batches for one statement each.
    static func some<ID>(of ids: [ID], by most: Int = 1000) -> [[ID]] {
        stride(from: 0, to: ids.count, by: most).map { start in Array(ids[start..<min(start + most, ids.count)]) }
    }

    /// The paths of the families `f` that have not ended and for which `condition` holds.
    static func paths(_ condition: SQL, in db: any Transaction) throws -> [TokenFamily.Path] {
        try db.rows("SELECT f.path FROM token_families f WHERE f.ended_at IS NULL AND \(condition)")
            .map { try $0.get("path") }
    }

    static func families(_ condition: SQL, in db: any Transaction) throws -> [Ending.Family] {
        try read(
            db.rows(
                """
                SELECT \(columns) FROM token_families f JOIN clients c ON c.id = f.client_id
                WHERE f.ended_at IS NULL AND \(condition)
                """))
    }

    /// What was got in web views that came from `paths`. Joins a list of ranges, because SQLite uses no index for many
    /// conditions with OR.
    static func families(below paths: [TokenFamily.Path], in db: any Transaction) throws -> [Ending.Family] {
        try some(of: paths, by: 100).flatMap { some in
            let ranges = some.dropFirst().reduce(range(some[0])) { "\($0), \(range($1))" }
            return try read(
                db.rows(
                    """
                    WITH r (low, high) AS (VALUES \(ranges))
                    SELECT \(columns) FROM r JOIN token_families f ON f.path > r.low AND f.path < r.high
                        JOIN clients c ON c.id = f.client_id
                    WHERE f.session_id IS NOT NULL AND f.path <> f.id AND f.ended_at IS NULL
                    """))
        }
    }

    /// The range of paths of everything that came from the family at `path` by its web views.
    private static func range(_ path: TokenFamily.Path) -> SQL { "(\(path.webViews.low), \(path.webViews.high))" }

    private static let columns: SQL = "f.path, f.scope, f.front_channel, c.scope AS registered, \(ClientKind.columns)"

    private static func read(_ rows: [Row]) throws -> [Ending.Family] {
        try rows.map { row in
            let client = try ClientKind(row)
            return Ending.Family(
                path: try row.get("path"), isPassing: try isPassing(row, of: client),
                outlivesApps: client.may(.outliveApps))
        }
    }

    /// Whether a family `f` came from that at `path`.
    static func below(_ path: TokenFamily.Path) -> SQL {
        "f.path > \(path.descendants.low) AND f.path < \(path.descendants.high)"
    }

    /// The sessions `s` that have not ended and meet `condition`. Includes expired ones, which a request in progress
    /// may still prolong.
    static func sessions(
        _ condition: SQL, in db: any Transaction
    ) throws -> [(id: Session.ID, path: TokenFamily.Path?)] {
        try db.rows(
            """
            SELECT s.id, s.path FROM sessions s \(Issuers.joined)
            WHERE s.ended_at IS NULL AND \(condition)
            """
        ).map { (try $0.get("id"), try $0.get("path")) }
    }

    /// Whether the token family in `row` lasts no longer than its session. True for tokens for OpenID Connect or of a
    /// third party that does not speak SPiD, unless the user allowed `offline_access` (Back-Channel Logout §2.7, OpenID
    /// Connect Core §11), and for front-channel tokens.
    private static func isPassing(_ row: Row, of client: ClientKind) throws -> Bool {
        guard try !row.get("front_channel", as: Bool.self) else { return true }
        let scope: Scope = try row.get("scope")
        // The client may have lost `offline_access` since.
        let registered: Scope = try row.get("registered")
        guard !scope.contains(Scope.offlineAccess) || !registered.contains(Scope.offlineAccess) else { return false }
        return !client.may(.keepTokensAfterSessions) || scope.contains(Scope.openID)
    }
}
