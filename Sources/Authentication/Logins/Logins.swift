import Audit
public import Directory
import JSON
public import Storage
public import Values

/// A stored attempt to sign in as a user: at which client, from which address, and whether it succeeded.
public struct Login: Sendable {
    public typealias ID = Identifier<Login>

    /// The kind of a login, in SPiD's terms.
    public enum Kind: String, Sendable {
        /// On this server's pages.
        case normal
        /// By an existing session or a session code, without asking the user anything.
        case auto
        /// By another party's assertion.
        case thirdParty = "thirdparty"
        /// By an app that asked for the password itself.
        case api
    }

    public let id: ID
    public let user: UserID
    /// The user's address, if the requester may see it.
    public let email: String?
    public let client: Client.ID
    public let merchant: Merchant.ID?
    public let kind: Kind
    public let succeeded: Bool
    /// The name of the party that asserted it.
    public let provider: String?
    public let address: String
    public let userAgent: String
    public let createdAt: Timestamp

    /// An attempt, before its outcome is known.
    public struct Attempt: Sendable {
        let id: ID
        let client: Client.ID?
        let kind: Kind
        let provider: String?
        let address: String
        let userAgent: String
        /// The request that it is made by.
        let origin: (any RequestOrigin)?

        /// - Parameter client: the client that sent the user; nil for none.
        public init(
            id: ID, client: Client.ID?, kind: Kind, provider: String? = nil, address: String, userAgent: String
        ) {
            self.id = id
            self.client = client
            self.kind = kind
            self.provider = provider
            self.address = address
            origin = CurrentRequest.origin
            // The browser's description of itself is shown and never trusted.
            self.userAgent = String(userAgent.filter { !$0.isNewline }).prefix(bytes: 300)
        }
    }
}

/// Attempts to sign in, as the clients where they happened may see them.
public struct Logins: Sendable {
    private let database: any Database

    public init(database: any Database) { self.database = database }

    /// Which attempts are asked for, and which part of the list.
    public struct Query: Sendable {
        public var user: UserID?
        public var address: String?
        public var succeeded: Bool?
        public var span = TimeSpan()
        public var part = ListPart()

        public init() {}
    }

    /// Attempts at the clients of `scope` by users connected to it, the newest first. A user's address is shown to a
    /// client that the user is connected to.
    public func list(_ query: Query, for scope: ClientScope) async throws -> [Login] {
        try await database.scan(for: .of(scope)) { db in
            if let user = query.user { return try Self.those(of: user, query, scope, in: db) }
            return scope.reach == nil
                ? try Self.all(query, at: scope.client, in: db) : try Self.ofAll(query, scope, in: db)
        }
    }

    private static let columns: SQL.Columns =
        """
        l.id, l.user_id, l.client_id, l.type, l.succeeded, l.provider, l.user_agent, l.ip_address, l.created_at, \
        u.email, t.merchant_id
        """

    /// Attempts at one client come in the order of an index, however many there are.
    private static func all(_ query: Query, at client: Client.ID, in db: any Transaction) throws -> [Login] {
        try db.rows(
            """
            SELECT \(columns), 1 AS is_own
            FROM logins l JOIN users u ON u.id = l.user_id JOIN clients t ON t.id = l.client_id
            WHERE l.client_id = \(client)
                AND EXISTS (SELECT 1 FROM connections n WHERE n.user_id = l.user_id AND n.client_id = \(client))
                AND u.deletion_due_at IS NULL
                \(query.outcome)
                AND l.created_at >= \(query.span.start) AND l.created_at < \(query.span.end)
                \(query.place)
            ORDER BY l.created_at DESC, l.id DESC LIMIT \(query.part.limit) OFFSET \(query.part.offset)
            """
        ).map(Login.init)
    }

    /// Each client's newest attempts in index order, which include the newest of all.
    private static func ofAll(_ query: Query, _ scope: ClientScope, in db: any Transaction) throws -> [Login] {
        let clients: [Client.ID] = try db.rows(
            """
            SELECT c.id FROM clients c WHERE \(scope.contains("c"))
            """
        ).map { try $0.get("id") }
        // Everything before the part is counted, so only positions are kept.
        var newest: [Place] = []
        for client in clients {
            newest += try places(query, at: client, as: scope, in: db)
            if newest.count > query.part.end {
                newest = Array(newest.sorted(by: Place.precedes).prefix(query.part.end))
            }
        }
        let ids = newest.sorted(by: Place.precedes).dropFirst(query.part.offset).prefix(query.part.limit).map(\.id)
        guard !ids.isEmpty else { return [] }
        return try db.rows(
            """
            SELECT \(columns), (SELECT COUNT(*) FROM connections n
                    WHERE n.user_id = l.user_id AND n.client_id = \(scope.client)) AS is_own
            FROM logins l JOIN users u ON u.id = l.user_id JOIN clients t ON t.id = l.client_id
            WHERE l.id IN (\(list: Array(ids))) ORDER BY l.created_at DESC, l.id DESC
            """
        ).map(Login.init)
    }

    /// The position of an attempt in the list.
    private struct Place {
        let id: Login.ID
        let moment: Int64

        static func precedes(_ one: Place, _ other: Place) -> Bool {
            (other.moment, other.id.text) < (one.moment, one.id.text)
        }
    }

    private static func places(
        _ query: Query, at client: Client.ID, as scope: ClientScope, in db: any Transaction
    ) throws -> [Place] {
        try db.rows(
            """
            SELECT l.id, l.created_at FROM logins l JOIN users u ON u.id = l.user_id
            WHERE l.client_id = \(client)
                AND EXISTS (SELECT 1 FROM connections n JOIN clients c ON c.id = n.client_id
                    WHERE n.user_id = l.user_id AND \(scope.contains("c")))
                AND u.deletion_due_at IS NULL
                \(query.outcome)
                AND l.created_at >= \(query.span.start) AND l.created_at < \(query.span.end)
                \(query.place)
            ORDER BY l.created_at DESC, l.id DESC LIMIT \(query.part.end)
            """
        ).map { row in Place(id: try row.get("id"), moment: try row.get("created_at")) }
    }

    private static func those(
        of user: UserID, _ query: Query, _ scope: ClientScope, in db: any Transaction
    ) throws -> [Login] {
        try db.rows(
            """
            SELECT \(columns), (SELECT COUNT(*) FROM connections n
                    WHERE n.user_id = l.user_id AND n.client_id = \(scope.client)) AS is_own
            FROM logins l JOIN users u ON u.id = l.user_id JOIN clients t ON t.id = l.client_id
            WHERE l.user_id = \(user) AND \(scope.contains("t"))
                AND EXISTS (SELECT 1 FROM connections n JOIN clients c ON c.id = n.client_id
                    WHERE n.user_id = l.user_id AND \(scope.contains("c")))
                AND u.deletion_due_at IS NULL
                \(query.outcome)
                AND l.created_at >= \(query.span.start) AND l.created_at < \(query.span.end)
                \(query.place)
            ORDER BY l.created_at DESC, l.id DESC LIMIT \(query.part.limit) OFFSET \(query.part.offset)
            """
        ).map(Login.init)
    }
}

extension Logins.Query {
    /// Spelt out, because failed attempts have their own index.
    fileprivate var outcome: SQL {
        switch succeeded {
        case nil: ""
        case true?: "AND l.succeeded = 1"
        case false?: "AND l.succeeded = 0"
        }
    }
    fileprivate var place: SQL { address.map { "AND l.ip_address = \($0)" } ?? "" }
}

extension Login {
    fileprivate init(_ row: Row) throws {
        let isOwn: Int64 = try row.get("is_own")
        self.init(
            id: try row.get("id"), user: try row.get("user_id"),
            email: isOwn > 0 ? try row.get("email") : nil, client: try row.get("client_id"),
            merchant: try row.get("merchant_id"), kind: Kind(rawValue: try row.get("type")) ?? .normal,
            succeeded: try row.get("succeeded"), provider: try row.get("provider"), address: try row.get("ip_address"),
            userAgent: try row.get("user_agent"), createdAt: try row.get("created_at"))
    }
}

/// Attempts are stored in the transactions they belong to, so none costs an extra commit.
extension Logins {
    /// Stores an attempt to sign in as `user`, in the caller's transaction. Storing it again changes nothing.
    public static func record(
        _ attempt: Login.Attempt, of user: UserID, succeeded: Bool, at now: Timestamp, in db: any Transaction
    ) throws {
        // The user may have been deleted since they were found.
        guard try !db.rows("SELECT id FROM users WHERE id = \(user)").isEmpty else { return }
        try db.execute(
            """
            INSERT INTO logins (id, user_id, client_id, type, succeeded, provider, user_agent, ip_address, created_at)
            VALUES (\(attempt.id), \(user), \(attempt.client), \(attempt.kind.rawValue), \(succeeded),
                \(attempt.provider), \(attempt.userAgent), \(attempt.address), \(now))
            ON CONFLICT (id) DO NOTHING
            """)
        try forgetOldest(of: user, after: attempt, in: db)
        if succeeded { try recordEvent(of: attempt, by: user, at: now, in: db) }
    }

    /// A sign-in is an event, but for one without a question to the user: an app may open sessions thousands of times a
    /// minute.
    private static func recordEvent(
        of attempt: Login.Attempt, by user: UserID, at now: Timestamp, in db: any Transaction
    ) throws {
        guard attempt.kind != .auto else { return }
        let merchant = try Connections.merchant(of: attempt.client, knowing: user, in: db)
        try AuditTrail(
            by: Actor(.user(user), of: merchant?.text), at: now, seed: Array(attempt.id.text.utf8),
            origin: attempt.origin
        ).record(
            "sign_in.succeeded", on: .user(user), client: attempt.client?.text,
            after: .members([
                "kind": .string(attempt.kind.rawValue), "provider": attempt.provider.map(JSON.string),
            ]), userAgent: attempt.userAgent, in: db)
    }

    /// How many attempts are kept of one user. A user who signs in every day leaves ninety before they expire.
    static let most = 1000
    /// The attempts that each client keeps at least, however many others have.
    static let mostOfClient = 250

    /// Deletes a user's oldest attempts beyond `most`, of the attempt's own client only. An app may open sessions
    /// thousands of times a minute, and must not push out what other clients' backends see. Beyond four times as many,
    /// deletes the oldest of all.
    ///
    /// Runs for one attempt in 256, chosen by its random id, so that few sign-ins pay for it. The limit may therefore
    /// be exceeded by some hundreds.
    private static func forgetOldest(of user: UserID, after attempt: Login.Attempt, in db: any Transaction) throws {
        guard attempt.id.isSampled else { return }
        let client = attempt.client?.text ?? ""
        let others = try db.rows(
            "SELECT id FROM logins WHERE user_id = \(user) AND COALESCE(client_id, '') <> \(client) LIMIT \(most)"
        ).count
        try db.execute(
            """
            DELETE FROM logins WHERE id IN (
                SELECT id FROM logins WHERE user_id = \(user) AND COALESCE(client_id, '') = \(client)
                ORDER BY created_at DESC, id DESC LIMIT \(2 * most) OFFSET \(max(most - others, mostOfClient)))
            """)
        try db.execute(
            """
            DELETE FROM logins WHERE id IN (
                SELECT id FROM logins WHERE user_id = \(user)
                ORDER BY created_at DESC, id DESC LIMIT \(2 * most) OFFSET \(4 * most))
            """)
    }

    /// Marks an attempt that was stored as a failure as successful.
    static func succeed(
        _ attempt: Login.Attempt, of user: UserID, at now: Timestamp, in db: any Transaction
    ) throws {
        try db.execute("UPDATE logins SET succeeded = 1 WHERE id = \(attempt.id)")
        try recordEvent(of: attempt, by: user, at: now, in: db)
    }

    /// Removes a stored attempt: the password was never checked.
    static func forget(_ attempt: Login.Attempt, in db: any Transaction) throws {
        try db.execute("DELETE FROM logins WHERE id = \(attempt.id)")
    }
}

extension Logins {
    static let export = StoredTable.Export.member("logins") { user, db in
        .array(
            try db.rows(
                """
                SELECT client_id, type, succeeded, provider, user_agent, ip_address, created_at FROM logins
                WHERE user_id = \(user) ORDER BY created_at DESC, id DESC LIMIT \(StoredTable.Export.most)
                """
            ).map { row in
                .members([
                    "at": try row.utc("created_at"), "type": .string(try row.get("type")),
                    "succeeded": .bool(try row.get("succeeded")), "address": .string(try row.get("ip_address")),
                    "device": .string(try row.get("user_agent")),
                    "client_id": try row.get("client_id", as: String?.self).map { .string($0) },
                    "provider": try row.get("provider", as: String?.self).map { .string($0) },
                ])
            })
    }
}
