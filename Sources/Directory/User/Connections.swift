import JSON
public import Storage
public import Values

/// The clients that a user is connected to.
public struct Connections: Sendable {
    private let database: any Database

    public init(database: any Database) { self.database = database }

    /// The clients that `user` is connected to, among `client` and its merchant's first-party apps.
    public func clients(of user: UserID, around client: Client) async throws -> [Client.ID] {
        try await database.rows("SELECT clients.id \(Self.connected(user, around: client)) ORDER BY clients.id")
            .map { try $0.get("id") }
    }

    /// The same clients, with what is shown of each.
    package func used(by user: UserID, around client: Client) async throws -> [UsedClient] {
        // No page address is longer.
        try await database.rows(
            """
            SELECT clients.id, clients.name, SUBSTR(clients.web_origins, 1, 2000) AS first_pages
            \(Self.connected(user, around: client))
            ORDER BY clients.id
            """
        ).map(UsedClient.init)
    }

    /// Whether `user` is connected to one of them, in the caller's transaction.
    package static func hasAny(_ user: UserID, around client: Client, in db: any Transaction) throws -> Bool {
        try !db.rows("SELECT 1 AS found \(connected(user, around: client)) LIMIT 1").isEmpty
    }

    /// The merchant that may be told what `user` does at `client`: that of the client, once one of its own clients is
    /// connected to the user. Nil before, and for an unknown user: who tries addresses at a client must not learn by
    /// the events of its merchant which of them have a user. The answer takes as long for each.
    package static func merchant(
        of client: Client.ID?, knowing user: UserID?, in db: any Transaction
    ) throws -> Merchant.ID? {
        guard let client else { return nil }
        return try db.rows(
            """
            SELECT clients.merchant_id FROM clients
            WHERE clients.id = \(client) AND EXISTS (
                SELECT 1 FROM connections JOIN clients own ON own.id = connections.client_id
                WHERE connections.user_id = \(user ?? UserID(0)) AND own.merchant_id = clients.merchant_id
                    AND \(ClientRight.shareWithMerchant.held(by: "own")) AND own.deleted_at IS NULL)
            """
        ).first?.get("merchant_id")
    }

    private static func connected(_ user: UserID, around client: Client) -> SQL {
        // A client without a merchant has no others: its NULL equals no client's merchant.
        """
        FROM connections JOIN clients ON clients.id = connections.client_id
        WHERE connections.user_id = \(user) AND clients.deleted_at IS NULL
            AND (clients.id = \(client.id)
                OR (clients.merchant_id = \(client.merchant) AND \(ClientRight.shareWithMerchant.held(by: "clients"))))
        """
    }
}

/// Every write to the table of connections, each in its caller's transaction.
extension Connections {
    /// Connects `user` to `client`, unless they are connected already.
    package static func connect(
        _ user: UserID, to client: Client.ID, at now: Timestamp, in db: any Transaction
    ) throws {
        try db.enqueue(insertion(of: user, client, at: now, when: nil))
    }

    /// As above, if `condition` holds.
    package static func insertion(of user: UserID, _ client: Client.ID, at now: Timestamp, when condition: SQL?) -> SQL
    {
        // PostgreSQL takes untyped values for texts here.
        """
        INSERT INTO connections (user_id, client_id, created_at)
        SELECT CAST(\(user) AS BIGINT), \(client), CAST(\(now) AS BIGINT) WHERE \(condition ?? .always)
        ON CONFLICT (user_id, client_id) DO NOTHING
        """
    }

    /// Disconnects them, and publishes that. Returns whether they were connected.
    package static func disconnect(
        _ user: UserID, from client: Client.ID, _ announcement: UserEvents.Announcement, in db: any Transaction
    ) throws -> Bool {
        try disconnect(user, where: "client_id = \(client)", announcement, in: db)
    }

    /// Ends all connections of the user except the one to `kept`, and publishes that.
    package static func disconnect(
        _ user: UserID, except kept: Client.ID?, _ announcement: UserEvents.Announcement, in db: any Transaction
    ) throws {
        _ = try disconnect(user, where: "client_id <> \(kept?.text ?? "")", announcement, in: db)
    }

    /// Ends the user's connections to the clients that `merchant` vouches for, and publishes that.
    package static func disconnect(
        _ user: UserID, from merchant: Merchant.ID, _ announcement: UserEvents.Announcement, in db: any Transaction
    ) throws {
        _ = try disconnect(
            user, where: "client_id IN (\(Clients.vouchedFor(by: merchant)))", announcement, in: db)
    }

    private static func disconnect(
        _ user: UserID, where which: SQL, _ announcement: UserEvents.Announcement, in db: any Transaction
    ) throws -> Bool {
        let clients: [Client.ID] = try db.rows(
            "SELECT client_id FROM connections WHERE user_id = \(user) AND \(which)"
        ).map { try $0.get("client_id") }
        guard !clients.isEmpty else { return false }
        // Before the rows are deleted, because other rows go with them.
        try announcement.say(.connectionsEnding(to: clients), user, db)
        try db.execute("DELETE FROM connections WHERE user_id = \(user) AND \(which)")
        return true
    }
}

extension Connections {
    /// Whether any user is connected to `client`, in the caller's transaction.
    package static func isUsed(_ client: Client.ID, in db: any Transaction) throws -> Bool {
        try !db.rows("SELECT 1 AS found FROM connections WHERE client_id = \(client) LIMIT 1").isEmpty
    }

    /// Whether they are connected, in the caller's transaction.
    package static func has(_ user: UserID, _ client: Client.ID, in db: any Transaction) throws -> Bool {
        try !db.rows("SELECT 1 AS found FROM connections WHERE user_id = \(user) AND client_id = \(client)").isEmpty
    }
}

extension Connections {
    static let export = StoredTable.Export.member("connections") { user, db in
        .array(
            try db.rows(
                """
                SELECT k.client_id, c.name, m.name AS merchant_name, k.created_at
                FROM connections k JOIN clients c ON c.id = k.client_id LEFT JOIN merchants m ON m.id = c.merchant_id
                WHERE k.user_id = \(user)
                """
            ).map { row in
                .members([
                    "client_id": .string(try row.get("client_id")), "client_name": .string(try row.get("name")),
                    "merchant_name": try row.get("merchant_name", as: String?.self).map { .string($0) },
                    "since": try row.utc("created_at"),
                ])
            })
    }
}
