public import Directory
public import Storage
public import Values

/// Who tried to sign in, as those may know it whose clients were tried at.
public struct Logins: Sendable {
    private let database: any Database

    public init(database: any Database) { self.database = database }

    /// Which tries are asked for, and which part of the list.
    public struct Query: Sendable {
        public var user: UserID?
        public var address: String?
        public var succeeded: Bool?
        public var span = TimeSpan()
        public var part = ListPart()

        public init() {}
    }

    /// Tries at the clients of `circle`, of people whom it knows, the newest first. The address of a person is shown to a
    /// client that the person has used.
    public func list(_ query: Query, for circle: ClientScope) async throws -> [Login] {
        try await database.scan { db in
            if let user = query.user { return try Self.those(of: user, query, circle, in: db) }
            return circle.reach == nil
                ? try Self.all(query, at: circle.client, in: db) : try Self.all(query, circle, in: db)
        }
    }

    private static let columns: SQL.Columns =
        """
        l.id, l.user_id, l.client_id, l.type, l.succeeded, l.provider, l.user_agent, l.ip_address, l.created_at, \
        a.email, t.merchant_id
        """

    /// Those at one client come in the order of an index, however many there are.
    private static func all(_ query: Query, at client: Client.ID, in db: any Transaction) throws -> [Login] {
        try db.rows(
            """
            SELECT \(columns), 1 AS is_own
            FROM logins l JOIN users a ON a.id = l.user_id JOIN clients t ON t.id = l.client_id
            WHERE l.client_id = \(client)
                AND EXISTS (SELECT 1 FROM connections n WHERE n.user_id = l.user_id AND n.client_id = \(client))
                AND a.deletion_due_at IS NULL
                AND l.succeeded >= \(query.least) AND l.succeeded <= \(query.most)
                AND l.created_at >= \(query.span.start) AND l.created_at < \(query.span.end)
                AND (1 = \(query.address == nil) OR l.ip_address = \(query.address ?? ""))
            ORDER BY l.created_at DESC, l.id DESC LIMIT \(query.part.limit) OFFSET \(query.part.offset)
            """
        ).map(Login.init)
    }

    private static func all(_ query: Query, _ circle: ClientScope, in db: any Transaction) throws -> [Login] {
        try db.rows(
            """
            SELECT \(columns), (SELECT COUNT(*) FROM connections n
                    WHERE n.user_id = l.user_id AND n.client_id = \(circle.client)) AS is_own
            FROM logins l JOIN users a ON a.id = l.user_id JOIN clients t ON t.id = l.client_id
            WHERE l.client_id IN (
                    SELECT c.id FROM clients c WHERE c.id = \(circle.client)
                        OR (c.merchant_id = \(circle.reach) AND c.registration_token IS NULL))
                AND EXISTS (SELECT 1 FROM connections n JOIN clients c ON c.id = n.client_id
                    WHERE n.user_id = l.user_id AND (c.id = \(circle.client)
                        OR (c.merchant_id = \(circle.reach) AND c.registration_token IS NULL)))
                AND a.deletion_due_at IS NULL
                AND l.succeeded >= \(query.least) AND l.succeeded <= \(query.most)
                AND l.created_at >= \(query.span.start) AND l.created_at < \(query.span.end)
                AND (1 = \(query.address == nil) OR l.ip_address = \(query.address ?? ""))
            ORDER BY l.created_at DESC, l.id DESC LIMIT \(query.part.limit) OFFSET \(query.part.offset)
            """
        ).map(Login.init)
    }

    private static func those(
        of user: UserID, _ query: Query, _ circle: ClientScope, in db: any Transaction
    ) throws -> [Login] {
        try db.rows(
            """
            SELECT \(columns), (SELECT COUNT(*) FROM connections n
                    WHERE n.user_id = l.user_id AND n.client_id = \(circle.client)) AS is_own
            FROM logins l JOIN users a ON a.id = l.user_id JOIN clients t ON t.id = l.client_id
            WHERE l.user_id = \(user)
                AND (t.id = \(circle.client) OR (t.merchant_id = \(circle.reach) AND t.registration_token IS NULL))
                AND EXISTS (SELECT 1 FROM connections n JOIN clients c ON c.id = n.client_id
                    WHERE n.user_id = l.user_id AND (c.id = \(circle.client)
                        OR (c.merchant_id = \(circle.reach) AND c.registration_token IS NULL)))
                AND a.deletion_due_at IS NULL
                AND l.succeeded >= \(query.least) AND l.succeeded <= \(query.most)
                AND l.created_at >= \(query.span.start) AND l.created_at < \(query.span.end)
                AND (1 = \(query.address == nil) OR l.ip_address = \(query.address ?? ""))
            ORDER BY l.created_at DESC, l.id DESC LIMIT \(query.part.limit) OFFSET \(query.part.offset)
            """
        ).map(Login.init)
    }
}

extension Logins.Query {
    fileprivate var least: Int { succeeded == true ? 1 : 0 }
    fileprivate var most: Int { succeeded == false ? 0 : 1 }
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
