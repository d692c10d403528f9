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

    /// A list would have to read more users than `mostRead`.
    public struct TooMany: Error, Sendable {}

    let database: any Database
    /// The most rows that are sorted.
    let few: Int
    let mostRead: Int

    public init(database: any Database) { self.init(database: database, few: 5000, mostRead: 200_000) }

    package init(database: any Database, few: Int, mostRead: Int) {
        self.database = database
        self.few = few
        self.mostRead = mostRead
    }

    /// The user with this address.
    public func user(of email: EmailAddress) async throws -> User? {
        try await database.read { db in try Self.user(of: email, in: db) }
    }

    /// The user who proved to read text messages to this number.
    public func user(of phone: PhoneNumber) async throws -> User? {
        try await database.read { db in try User.find(phone, in: db) }
    }

    /// The user whose `sub` an import kept.
    public func id(ofSubject subject: String) async throws -> UserID? {
        try await database.read { db in try User.id(ofSubject: subject, in: db) }
    }

    /// The user with this id, connected or not; nil for a user who asked for deletion.
    public func find(_ id: UserID, for scope: ClientScope) async throws -> Match? {
        try await database.read { db in
            try db.rows(
                """
                SELECT \(User.columns),
                    (SELECT MAX(l.created_at) FROM logins l
                        WHERE l.user_id = users.id AND l.succeeded = 1
                            AND l.client_id IN (
                                SELECT c.id FROM clients c WHERE \(scope.countsLogins(at: "c")))) AS last_login,
                    (SELECT MAX(l.created_at) FROM logins l
                        WHERE l.user_id = users.id AND l.succeeded = 1 AND l.type <> 'auto'
                            AND l.client_id IN (
                                SELECT c.id FROM clients c WHERE \(scope.countsLogins(at: "c")))) AS last_proof
                FROM users WHERE id = \(id) AND deletion_due_at IS NULL
                """
            ).first.map(Match.init)
        }
    }

    static func user(of email: EmailAddress, in db: any Transaction) throws -> User? {
        try db.rows("SELECT \(User.columns) FROM users WHERE email = \(email)").first.map(User.init)
    }
}

extension ConnectedUsers.Match {
    init(_ row: Row) throws {
        self.init(
            user: try User(row), lastLogin: try row.get("last_login"), lastProof: try row.get("last_proof"))
    }
}

/// Lists and searches. Each starts from an index, and reads at most some thousand users that the scope's clients do not
/// have, or `mostRead` for a span of time.
extension ConnectedUsers {
    /// The users connected to `scope` that match `query`, in the order of their ids, or the oldest first for a span of
    /// time. Throws `TooMany` when too many other users were made or changed in the span.
    public func list(_ query: UserQuery, for scope: ClientScope) async throws -> [Match] {
        try await database.scan(for: .of(scope)) { db in
            try Self.matches(try places(query, scope, in: db).map(\.user), for: scope, in: db)
        }
    }

    /// The users of these ids, in their order, as `scope` sees them.
    static func matches(_ ids: [UserID], for scope: ClientScope, in db: any Transaction) throws -> [Match] {
        guard !ids.isEmpty else { return [] }
        let found = try db.rows(
            """
            SELECT \(User.columns),
                (SELECT MAX(l.created_at) FROM logins l
                    WHERE l.user_id = users.id AND l.succeeded = 1 AND l.client_id IN (
                        SELECT c.id FROM clients c WHERE \(scope.countsLogins(at: "c")))) AS last_login,
                NULL AS last_proof
            FROM users WHERE id IN (\(list: ids))
            """
        ).map(Match.init)
        let matches = Dictionary(found.map { ($0.user.id, $0) }) { first, _ in first }
        return ids.compactMap { matches[$0] }
    }

    /// A matching user, and their place in the list.
    private struct Place: Hashable {
        let user: UserID
        let moment: Int64

        init(user: UserID, moment: Int64) {
            self.user = user
            self.moment = moment
        }

        init(_ row: Row) throws {
            user = try row.get("id")
            moment = try row.get("moment")
        }

        static func precedes(_ one: Place, _ other: Place) -> Bool {
            (one.moment, one.user.number) < (other.moment, other.user.number)
        }
    }

    private func places(_ query: UserQuery, _ scope: ClientScope, in db: any Transaction) throws -> [Place] {
        let (filter, moment, part) = (query.filter, query.moment, query.part)
        let rest: SQL = "\(Self.covered(query, scope)) ORDER BY moment, u.id LIMIT \(part.limit) OFFSET \(part.offset)"
        if let key = query.key, let found = try Self.user(key, in: db) {
            guard let id = found else { return [] }
            return try db.rows("SELECT u.id, \(moment) AS moment FROM users u WHERE u.id = \(id) \(rest)").map(
                Place.init)
        }
        let start = query.prefix
        if start.unicodeScalars.count >= 3,
            try isFew("SELECT 1 FROM users WHERE SUBSTR(email, 1, 3) = SUBSTR(\(start), 1, 3) LIMIT \(few + 1)", in: db)
        {
            return try db.rows(
                """
                SELECT u.id, \(moment) AS moment FROM users u
                WHERE SUBSTR(u.email, 1, 3) = SUBSTR(\(start), 1, 3) \(rest)
                """
            ).map(Place.init)
        }
        let clients: [Client.ID] = try db.rows(
            """
            SELECT c.id FROM clients c WHERE \(scope.contains("c"))
            """
        ).map { try $0.get("id") }
        let areFew = try clients.allSatisfy {
            try isFew("SELECT 1 FROM connections WHERE client_id = \($0) LIMIT \(few + 1)", in: db)
        }
        guard query.span.isOpen || areFew else {
            return Array(try visited(query, scope, in: db).dropFirst(part.offset))
        }
        // Each client's first users in index order, which include the first of all.
        var found: Set<Place> = []
        for client in clients {
            let rows = try db.rows(
                """
                SELECT u.id, \(moment) AS moment FROM connections n JOIN users u ON u.id = n.user_id
                WHERE n.client_id = \(client) \(filter)
                ORDER BY \(query.orderOfClient) LIMIT \(part.end)
                """)
            found.formUnion(try rows.map(Place.init))
            if found.count > 2 * part.end { found = Set(found.sorted(by: Place.precedes).prefix(part.end)) }
        }
        return Array(found.sorted(by: Place.precedes).dropFirst(part.offset).prefix(part.limit))
    }

    /// The conditions for a user to be listed. The client is checked per user, so that the rest of the statement
    /// decides where it starts.
    private static func covered(_ query: UserQuery, _ scope: ClientScope) -> SQL {
        """
        \(query.filter) AND EXISTS (
            SELECT 1 FROM connections n JOIN clients c ON c.id = n.client_id
            WHERE n.user_id = u.id AND \(scope.contains("c")))
        """
    }

    /// The start of the list up to the end of the part, taken from all users in the span of time, slice by slice.
    private func visited(_ query: UserQuery, _ scope: ClientScope, in db: any Transaction) throws -> [Place] {
        let moment = query.moment
        var found: [Place] = []
        var last = Place(user: UserID(0), moment: query.span.start.milliseconds)
        for _ in 0..<(mostRead / max(few, 1)) {
            // Both ends are pairs, so that the index begins and ends there: many users of an import share one moment.
            let slice: SQL = "(\(moment), u.id) > (\(last.moment), \(last.user))"
            let end = try db.rows(
                """
                SELECT u.id, \(moment) AS moment FROM users u
                WHERE \(slice) AND (\(moment), u.id) < (\(query.span.end), 0)
                ORDER BY \(moment), u.id LIMIT 1 OFFSET \(max(few, 1) - 1)
                """
            ).first.map(Place.init)
            let bound = end ?? Place(user: UserID(0), moment: query.span.end.milliseconds)
            found += try db.rows(
                """
                SELECT u.id, \(moment) AS moment FROM users u
                WHERE \(slice) AND (\(moment), u.id) <= (\(bound.moment), \(bound.user))
                    \(Self.covered(query, scope))
                ORDER BY \(moment), u.id LIMIT \(query.part.end - found.count)
                """
            ).map(Place.init)
            guard found.count < query.part.end, let end else { return found }
            last = end
        }
        throw TooMany()
    }

    /// The one user that `key` names, if it names one; nil within when there is none.
    private static func user(_ key: UserQuery.Key, in db: any Transaction) throws -> UserID?? {
        switch key {
        case .user(let id): .some(id)
        case .email(let email): .some(try user(of: email, in: db)?.id)
        case .emailPrefix: .none
        }
    }

    func isFew(_ rows: SQL, in db: any Transaction) throws -> Bool {
        try db.rows(rows).count <= few
    }
}

extension UserQuery {
    /// The prefix of the address.
    var prefix: String { if case .emailPrefix(let prefix) = key { prefix } else { "" } }

    /// What orders the list before the ids: nothing, or the moment that the span is about.
    fileprivate var moment: SQL.Columns {
        if span.isOpen { "0" } else if spansChanges { "u.updated_at" } else { "u.created_at" }
    }

    fileprivate var orderOfClient: SQL.Columns { span.isOpen ? "n.user_id" : "moment, u.id" }

    /// The plus keeps SQLite from using an index of these columns: a list states itself where it begins.
    fileprivate var filter: SQL {
        let states = states.map(\.rawValue)
        let column: SQL.Columns = spansChanges ? "u.updated_at" : "u.created_at"
        return """
            AND u.deletion_due_at IS NULL
            AND CASE WHEN u.disabled_at IS NOT NULL THEN -2 WHEN u.email_verified = 1 THEN 1 ELSE 0 END
                IN (\(states.first ?? -9), \(states.dropFirst().first ?? -9), \(states.dropFirst(2).first ?? -9))
            AND SUBSTR(COALESCE(u.email, ''), 1, \(prefix.unicodeScalars.count)) = \(prefix)
            AND +\(column) >= \(span.start) AND +\(column) < \(span.end)
            """
    }
}

/// Searches by conditions that no index covers.
extension ConnectedUsers {
    /// The users of one client for whom `holds` is true, in the order of their ids, within the states, times, part and
    /// address prefix of `query`. Reads every user of the client; nil when they are more than `few`.
    public func search(
        _ query: UserQuery, for scope: ClientScope, where holds: @escaping @Sendable (User) -> Bool
    ) async throws -> [Match]? {
        try await database.scan(for: .of(scope)) { db in
            guard
                try isFew(
                    "SELECT 1 FROM connections WHERE client_id = \(scope.client) LIMIT \(few + 1)", in: db)
            else { return nil }
            let wanted = query.part.offset + query.part.limit
            var found: [UserID] = []
            var cursor: Int64 = 0
            while found.count < wanted {
                let ids: [UserID] = try db.rows(
                    """
                    SELECT user_id FROM connections WHERE client_id = \(scope.client) AND user_id > \(cursor)
                    ORDER BY user_id LIMIT \(Self.readAtOnce)
                    """
                ).map { try $0.get("user_id") }
                guard let last = ids.last else { break }
                cursor = last.number
                found += try db.rows(
                    """
                    SELECT \(User.columns) FROM users
                    WHERE id IN (\(list: ids)) AND deletion_due_at IS NULL ORDER BY id
                    """
                ).map(User.init).filter { query.covers($0) && holds($0) }.map(\.id)
            }
            return try Self.matches(
                Array(found.dropFirst(query.part.offset).prefix(query.part.limit)), for: scope, in: db)
        }
    }

    private static let readAtOnce = 500
}

extension UserQuery {
    /// Whether the user is in one of the states, and of the times.
    fileprivate func covers(_ user: User) -> Bool {
        let state: State = user.disabledAt != nil ? .blocked : user.emailVerified ? .verified : .unverified
        let moment = spansChanges ? user.updatedAt : user.createdAt
        return states.contains(state) && moment >= span.start && moment < span.end
            && (user.email ?? "").unicodeScalars.starts(with: prefix.unicodeScalars)
    }
}
