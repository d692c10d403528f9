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
