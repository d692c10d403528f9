import JSON
import Storage
public import Values

/// What a browser holds at a host of a client's site, in place of the session cookie that it does not send from there
/// (docs/decisions/session-hosts.md).
public enum HostSession {
    /// Hands a session over to one of these hosts, once.
    public enum Code {
        public static let lifetime: Duration = .seconds(60)
    }

    /// A browser, as it is known at one such host.
    public enum Browser {}

    /// Where a session is handed over to.
    public struct Place: Sendable {
        let host: String
        let client: Client.ID
        let browser: Fingerprint<Browser>

        public init(host: String, client: Client.ID, browser: Fingerprint<Browser>) {
            self.host = host
            self.client = client
            self.browser = browser
        }
    }
}

/// Sessions that browsers also have at hosts of clients' sites.
///
/// Each stands for a session here, ends with it, and tells the pages of one merchant's clients who is signed in. It
/// serves nothing else: it opens no page and earns no code.
public struct HostSessions: Sendable {
    private let database: any Database
    private let sessions: Sessions
    private let clock: any WallClock

    public init(sessions: Sessions) {
        self.sessions = sessions
        database = sessions.database
        clock = sessions.clock
    }

    /// Stores a code for `session` at `place`. It replaces the last one, so a session has one row per client and host.
    public func handOver(
        _ session: Session, by code: Secret<HostSession.Code>, to place: HostSession.Place
    ) async throws {
        let end = clock.now + HostSession.Code.lifetime
        try await database.write { db in
            _ = try db.execute(
                """
                INSERT INTO host_sessions (session_id, client_id, host, code, browser, code_expires_at, expires_at)
                SELECT id, CAST(\(place.client) AS TEXT), CAST(\(place.host) AS TEXT),
                    CAST(\(code.fingerprint) AS TEXT),
                    CAST(\(place.browser) AS TEXT), CAST(\(end) AS BIGINT), CAST(\(session.latestExpiry) AS BIGINT)
                FROM sessions
                WHERE id = \(session.id) AND ended_at IS NULL AND renewals = \(session.renewals)
                ON CONFLICT (session_id, client_id, host) DO UPDATE
                SET code = excluded.code, browser = excluded.browser, code_expires_at = excluded.code_expires_at,
                    expires_at = excluded.expires_at
                """)
        }
    }

    /// Spends `code` in the browser and at the host that it is for. From then on `secret` stands for the session.
    ///
    /// One guarded update decides: false, and nothing changes, for a code that is spent, replaced, expired or another
    /// browser's.
    public func take(
        _ code: Secret<HostSession.Code>, as secret: Secret<HostSession>, at place: HostSession.Place
    ) async throws -> Bool {
        let now = clock.now
        return try await database.write { db in
            let isTaken =
                try db.execute(
                    """
                    UPDATE host_sessions
                    SET code = NULL, browser = NULL, code_expires_at = NULL, fingerprint = \(secret.fingerprint)
                    WHERE code = \(code.fingerprint) AND host = \(place.host) AND client_id = \(place.client)
                        AND browser = \(place.browser) AND code_expires_at > \(now)
                    """) == 1
            if isTaken { return true }
            // After a COMMIT of unknown outcome the closure runs again, and finds its own row.
            return try !db.rows(
                "SELECT session_id FROM host_sessions WHERE fingerprint = \(secret.fingerprint)"
            ).isEmpty
        }
    }

    /// The live session that `secret` stands for at `host`, for a client of the merchant that it was handed over to.
    /// Looking it up counts as use.
    public func find(_ secret: Secret<HostSession>, at host: String, for client: Client) async throws -> Session? {
        guard client.spid.sessionHosts.contains(host), let merchant = client.merchant else { return nil }
        return try await sessions.find { db in
            try db.rows(
                """
                SELECT s.fingerprint FROM host_sessions h
                JOIN sessions s ON s.id = h.session_id
                JOIN clients o ON o.id = h.client_id AND o.disabled_at IS NULL AND o.deleted_at IS NULL
                WHERE h.fingerprint = \(secret.fingerprint) AND h.host = \(host) AND o.merchant_id = \(merchant)
                """
            ).first.map { Fingerprint(text: try $0.get("fingerprint")) }
        }
    }

    /// Ends what hosts hold of `sessions`, which are no longer the browser's current one but live on.
    package func end(of sessions: [Session.ID]) async throws {
        guard !sessions.isEmpty else { return }
        try await database.write { db in try Self.end(of: sessions, in: db) }
    }

    static func end(of sessions: [Session.ID], in db: any Transaction) throws {
        try db.execute("DELETE FROM host_sessions WHERE session_id IN (\(list: sessions))")
    }
}

extension HostSessions {
    static let table = StoredTable(
        "host_sessions",
        retention: [
            .statement("hostSessions") { now, batch in
                """
                DELETE FROM host_sessions WHERE (session_id, client_id, host) IN (
                    SELECT session_id, client_id, host FROM host_sessions
                    WHERE expires_at <= \(now) ORDER BY expires_at LIMIT \(batch))
                """
            }
        ], ofUser: .withParent, ofClient: .expiry,
        export: [export])
}

extension HostSessions {
    static let export = StoredTable.Export.member("host_sessions") { user, db in
        .array(
            try db.rows(
                """
                SELECT h.client_id, h.host FROM host_sessions h JOIN sessions s ON s.id = h.session_id
                WHERE s.user_id = \(user) LIMIT \(StoredTable.Export.most)
                """
            ).map { row in
                .members(["client_id": .string(try row.get("client_id")), "host": .string(try row.get("host"))])
            })
    }
}
