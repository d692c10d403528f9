public import Directory
public import Storage
public import Values

/// Users, as the clients that they are connected to see them.
public struct ConnectedUsers: Sendable {
    /// A user, and when they last signed in to a client of the requesting merchant.
    public struct Match: Sendable {
        public let user: User
        /// The last login of any kind.
        public let lastLogin: Timestamp?
        /// The last login by a password or another proof, not by an existing session.
        public let lastProof: Timestamp?

        /// A user created just now.
        public init(newcomer user: User) {
            self.init(user: user, lastLogin: nil, lastProof: nil)
        }

        init(user: User, lastLogin: Timestamp?, lastProof: Timestamp?) {
            self.user = user
            self.lastLogin = lastLogin
            self.lastProof = lastProof
        }
    }

    private let database: any Database

    public init(database: any Database) { self.database = database }

    /// The user with this address.
    public func user(of email: EmailAddress) async throws -> User? {
        try await database.read { db in try Self.user(of: email, in: db) }
    }

    /// The user with this id, whether or not they are connected; nil for a user who asked to be deleted.
    public func find(_ id: UserID, for scope: ClientScope) async throws -> Match? {
        try await database.read { db in
            try db.rows(
                """
                SELECT \(User.columns),
                    (SELECT MAX(l.created_at) FROM logins l
                        WHERE l.user_id = users.id AND l.succeeded = 1 AND l.client_id IN (
                            SELECT c.id FROM clients c WHERE c.id = \(scope.client)
                                OR c.merchant_id = \(scope.merchant))) AS last_login,
                    (SELECT MAX(l.created_at) FROM logins l
                        WHERE l.user_id = users.id AND l.succeeded = 1 AND l.type <> 'auto' AND l.client_id IN (
                            SELECT c.id FROM clients c WHERE c.id = \(scope.client)
                                OR c.merchant_id = \(scope.merchant))) AS last_proof
                FROM users WHERE id = \(id) AND deletion_due_at IS NULL
                """
            ).first.map(Match.init)
        }
    }

    /// The users connected to `scope` that match `query`: in the order of their ids, or the oldest first when it asks
    /// for a span of time.
    public func list(_ query: UserQuery, for scope: ClientScope) async throws -> [Match] {
        let states = query.states.map(\.rawValue)
        let (order, moment) = query.columns
        return try await database.scan { db in
            guard let range = try Self.range(query.key, in: db) else { return [] }
            let prefix = query.prefix
            return try db.rows(
                """
                SELECT \(User.columns),
                    (SELECT MAX(l.created_at) FROM logins l
                        WHERE l.user_id = users.id AND l.succeeded = 1 AND l.client_id IN (
                            SELECT c.id FROM clients c WHERE c.id = \(scope.client)
                                OR c.merchant_id = \(scope.merchant))) AS last_login,
                    NULL AS last_proof
                FROM users
                WHERE id IN (
                    SELECT n.user_id FROM connections n JOIN clients c ON c.id = n.client_id
                    WHERE c.id = \(scope.client)
                        OR (c.merchant_id = \(scope.reach) AND c.registration_token IS NULL))
                AND id >= \(range.lowerBound) AND id <= \(range.upperBound)
                AND deletion_due_at IS NULL
                AND CASE WHEN disabled_at IS NOT NULL THEN -2 WHEN email_verified = 1 THEN 1 ELSE 0 END
                    IN (\(states.first ?? -9), \(states.dropFirst().first ?? -9), \(states.dropFirst(2).first ?? -9))
                AND SUBSTR(COALESCE(email, ''), 1, \(prefix.unicodeScalars.count)) = \(prefix)
                AND \(moment) >= \(query.span.start) AND \(moment) < \(query.span.end)
                ORDER BY \(order) LIMIT \(query.part.limit) OFFSET \(query.part.offset)
                """
            ).map(Match.init)
        }
    }

    private static func user(of email: EmailAddress, in db: any Transaction) throws -> User? {
        try db.rows("SELECT \(User.columns) FROM users WHERE email = \(email)").first.map(User.init)
    }

    /// The range of user ids that `key` allows; nil when it matches nobody.
    private static func range(_ key: UserQuery.Key?, in db: any Transaction) throws -> ClosedRange<Int64>? {
        switch key {
        case .user(let id): id.number...id.number
        case .email(let email): try user(of: email, in: db).map { $0.id.number...$0.id.number }
        case .emailPrefix, nil: 0...Int64.max
        }
    }
}

extension ConnectedUsers.Match {
    fileprivate init(_ row: Row) throws {
        self.init(
            user: try User(row), lastLogin: try row.get("last_login"), lastProof: try row.get("last_proof"))
    }
}

extension UserQuery {
    fileprivate var prefix: String { if case .emailPrefix(let prefix) = key { prefix } else { "" } }

    /// The order of the list, and the column that the span is about. By id, the index of connections gives the order.
    fileprivate var columns: (order: SQL.Columns, moment: SQL.Columns) {
        switch (span.isOpen, spansChanges) {
        case (true, _): ("id", "created_at")
        case (false, false): ("created_at, id", "created_at")
        case (false, true): ("updated_at, id", "updated_at")
        }
    }
}
