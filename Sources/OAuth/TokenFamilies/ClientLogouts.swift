public import Directory
public import Storage
public import Values

/// Users who signed out of one client, and stay signed in to the browser for all others
/// (docs/decisions/logout-of-one-site.md).
///
/// For that client the session is as good as none until its user comes back, by a page of ours, or signs in to the
/// browser anew.
public struct ClientLogouts: Sendable {
    private let database: any Database
    private let callbacks: Callbacks

    public init(database: any Database, callbacks: Callbacks) {
        self.database = database
        self.callbacks = callbacks
    }

    /// Whether the user of `session` has left `client`.
    public func isGone(_ session: Session.ID, from client: Client.ID) async throws -> Bool {
        try await database.read { db in try Self.isGone(session, from: client, in: db) }
    }

    static func isGone(_ session: Session.ID, from client: Client.ID, in db: any Transaction) throws -> Bool {
        try !db.rows("SELECT 1 AS found WHERE \(isGone(session: "\(session)", client: "\(client)"))").isEmpty
    }

    /// The same as a condition of another statement: of columns, or values.
    static func isGone(session: SQL, client: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM client_logouts d JOIN sessions l ON l.id = d.session_id
            WHERE d.session_id = \(session) AND d.client_id = \(client) AND d.created_at >= l.created_at)
        """
    }

    /// Signs the user of `session` out of `client`: ends what would have ended with the session, and tells the client.
    ///
    /// Only a client that would learn who the user is can be left, and once, so that no site fills the table.
    ///
    /// - Parameter charge: refuses by throwing when the user does so too often: it may rewrite what the user has at a
    ///   merchant.
    public func leave(
        _ client: Client.ID, in session: Session, at now: Timestamp,
        charge: @escaping @Sendable (any Transaction) throws -> Void = { _ in }
    ) async throws {
        let announcement = callbacks.announcement(at: now)
        let user = session.user
        try await database.write { db in
            guard try Sessions.isLive(session, in: db), try Self.isAnswered(client, about: session, in: db),
                try !Self.isGone(session.id, from: client, in: db)
            else { return }
            try charge(db)
            try CodeEnds.end(of: user, for: client, at: now, in: db)
            try TokenFamilies.end(with: .one(session.id), of: user, for: client, telling: announcement, in: db)
            try db.execute(
                """
                INSERT INTO client_logouts (session_id, client_id, created_at, expires_at)
                VALUES (\(session.id), \(client), \(max(now, session.createdAt)), \(session.latestExpiry))
                ON CONFLICT (session_id, client_id) DO UPDATE
                SET created_at = excluded.created_at, expires_at = excluded.expires_at
                """)
        }
        announcement.send()
    }

    /// Whether `client` has had an answer about the user of `session`, or would get one unasked.
    private static func isAnswered(
        _ client: Client.ID, about session: Session, in db: any Transaction
    ) throws -> Bool {
        guard try !Connections.has(session.user, client, in: db) else { return true }
        guard let client = try Clients.find(client, in: db) else { return false }
        guard client.firstParty else { return try Consents.find(session.user, client.id, in: db) != nil }
        return try !Introductions.isDue(session.user, to: client, in: session.id, db)
    }

    /// Keeps those of `session`, which has been opened anew by a token for `client` alone: its user is back there.
    public static func keep(
        in session: Session.ID, exceptOf client: Client.ID, at now: Timestamp, _ db: any Transaction
    ) throws {
        try comeBack(to: client, in: session, db)
        try db.execute(
            """
            UPDATE client_logouts SET created_at = \(now), expires_at = \(now + Session.longestLifetime)
            WHERE session_id = \(session)
            """)
    }

    /// Notes that the user of `session` is back at `client`.
    public func comeBack(to client: Client.ID, in session: Session.ID) async throws {
        try await database.write { db in try Self.comeBack(to: client, in: session, db) }
    }

    /// The same in the caller's transaction.
    public static func comeBack(to client: Client.ID, in session: Session.ID, _ db: any Transaction) throws {
        try db.execute("DELETE FROM client_logouts WHERE session_id = \(session) AND client_id = \(client)")
    }

    static let table = StoredTable(
        "client_logouts",
        retention: [
            .statement("clientLogouts") { now, batch in
                """
                DELETE FROM client_logouts WHERE (session_id, client_id) IN (
                    SELECT session_id, client_id FROM client_logouts
                    WHERE expires_at <= \(now) ORDER BY expires_at LIMIT \(batch))
                """
            }
        ], ofUser: .withParent, ofClient: .withParent,
        export: [export])
}
