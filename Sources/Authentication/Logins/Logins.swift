public import Directory
public import Storage
public import Values

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
        a.email, t.merchant_id
        """

    /// Attempts at one client come in the order of an index, however many there are.
    private static func all(_ query: Query, at client: Client.ID, in db: any Transaction) throws -> [Login] {
        try db.rows(
            """
            SELECT \(columns), 1 AS is_own
            FROM logins l JOIN users a ON a.id = l.user_id JOIN clients t ON t.id = l.client_id
            WHERE l.client_id = \(client)
                AND EXISTS (SELECT 1 FROM connections n WHERE n.user_id = l.user_id AND n.client_id = \(client))
                AND a.deletion_due_at IS NULL
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
            FROM logins l JOIN users a ON a.id = l.user_id JOIN clients t ON t.id = l.client_id
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
            SELECT l.id, l.created_at FROM logins l JOIN users a ON a.id = l.user_id
            WHERE l.client_id = \(client)
                AND EXISTS (SELECT 1 FROM connections n JOIN clients c ON c.id = n.client_id
                    WHERE n.user_id = l.user_id AND \(scope.contains("c")))
                AND a.deletion_due_at IS NULL
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
            FROM logins l JOIN users a ON a.id = l.user_id JOIN clients t ON t.id = l.client_id
            WHERE l.user_id = \(user) AND \(scope.contains("t"))
                AND EXISTS (SELECT 1 FROM connections n JOIN clients c ON c.id = n.client_id
                    WHERE n.user_id = l.user_id AND \(scope.contains("c")))
                AND a.deletion_due_at IS NULL
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
