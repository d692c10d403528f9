public import Directory
public import Storage
public import Values

/// The clients that took part in a browser session. They are told when it ends. The user can also sign out of one of
/// them alone and stay signed in to the browser for all others (docs/decisions/logout-of-one-site.md).
///
/// That client sees no session until the user returns by one of our pages, or signs in to the browser anew.
public struct SessionClients: Sendable {
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

    /// The same as a condition of another statement; the arguments are columns or values.
    static func isGone(session: SQL, client: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM session_clients n JOIN sessions s ON s.id = n.session_id
            WHERE n.session_id = \(session) AND n.client_id = \(client) AND \(isLeft))
        """
    }

    /// Whether the user of session `s` has left the client of row `n`, and has not signed in to the browser since.
    static let isLeft: SQL = "(n.left_at IS NOT NULL AND n.left_at >= s.created_at)"

    /// Notes that `client` got something in `session`: it is told of the session's end.
    static func note(_ client: Client.ID, in session: Session.ID, _ db: any Transaction) throws {
        try db.enqueue(
            """
            INSERT INTO session_clients (session_id, client_id) VALUES (\(session), \(client))
            ON CONFLICT (session_id, client_id) DO UPDATE SET left_at = NULL WHERE session_clients.left_at IS NOT NULL
            """)
    }

    /// Signs the user of `session` out of `client`: ends what the end of the session would have ended, and tells the
    /// client.
    ///
    /// Only a client that would learn who the user is can be left, and only once, so that no site fills the table.
    /// - Parameter charge: throws when the user does so too often, because it may rewrite all rows of the user at a
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
            try Ending.carryOut(.clientLeft(client, in: session.id), of: user, telling: announcement, at: now, in: db)
            try db.execute(
                """
                INSERT INTO session_clients (session_id, client_id, left_at)
                VALUES (\(session.id), \(client), \(max(now, session.createdAt)))
                ON CONFLICT (session_id, client_id) DO UPDATE SET left_at = excluded.left_at
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
        guard client.may(.skipConsent) else { return try Consents.find(session.user, client.id, in: db) != nil }
        return try !Introductions.isDue(session.user, to: client, in: session.id, db)
    }

    /// Keeps clients left that were left in `session`, which a token for `client` alone has just renewed. Its user is
    /// back at that client.
    public static func keep(
        in session: Session.ID, exceptOf client: Client.ID, at now: Timestamp, _ db: any Transaction
    ) throws {
        try comeBack(to: client, in: session, db)
        try db.execute(
            "UPDATE session_clients SET left_at = \(now) WHERE session_id = \(session) AND left_at IS NOT NULL")
    }

    /// Notes that the user of `session` is back at `client`.
    public func comeBack(to client: Client.ID, in session: Session.ID) async throws {
        try await database.write { db in try Self.comeBack(to: client, in: session, db) }
    }

    /// The same in the caller's transaction.
    public static func comeBack(to client: Client.ID, in session: Session.ID, _ db: any Transaction) throws {
        try db.execute(
            """
            DELETE FROM session_clients
            WHERE session_id = \(session) AND client_id = \(client) AND left_at IS NOT NULL
            """)
    }

    /// Deletes the rows of a client that is being deleted, in the sessions where its `families` were got.
    static func forget(
        _ client: any SQLBindable & Sendable, with families: [TokenFamily.ID], in db: any Transaction
    ) throws {
        guard !families.isEmpty else { return }
        try db.execute(
            """
            DELETE FROM session_clients WHERE client_id = \(client) AND session_id IN (
                SELECT session_id FROM token_families WHERE id IN (\(list: families)) AND session_id IS NOT NULL)
            """)
    }

    static let table = StoredTable("session_clients", ofUser: .withParent, export: [export])
}
