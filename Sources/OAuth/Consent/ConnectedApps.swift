public import Directory
public import Storage
public import Values

/// A client that a user has used or allowed, as the user sees it.
public struct ConnectedApp: Sendable {
    public let client: Client.ID
    public let name: String
    /// Nil for a client of the platform, and for a self-registered client, which the merchant did not make.
    public let merchantName: String?
    /// What the app may do now: the scope of its live tokens, and what it need not ask for again, within its registered
    /// scope.
    public let scope: Scope
    public let since: Timestamp
}

/// A user's connected apps: lists what they may do, and revokes it.
public struct ConnectedApps: Sendable {
    private let database: any Database
    private let clock: any WallClock
    private let callbacks: Callbacks
    private let events: UserEvents
    /// Makes one list per user at a time: a user may have thousands of token families to read, and other users' pages
    /// should not wait for that.
    private let turns = RequesterTurns(most: 8, of: "account pages")

    public init(database: any Database, clock: any WallClock, callbacks: Callbacks, events: UserEvents) {
        self.database = database
        self.clock = clock
        self.callbacks = callbacks
        self.events = events
    }

    /// Every client that `user` has used or allowed, the newest first.
    public func list(of user: UserID) async throws -> [ConnectedApp] {
        let now = clock.now
        return try await turns.run(for: .page(of: user.number)) {
            try await list(of: user, at: now)
        }
    }

    private func list(of user: UserID, at now: Timestamp) async throws -> [ConnectedApp] {
        try await database.readAside { db in
            var granted: [Client.ID: Scope] = [:]
            for row in try db.rows(
                """
                SELECT DISTINCT client_id, scope FROM token_families
                WHERE user_id = \(user) AND ended_at IS NULL AND expires_at > \(now)
                """)
            {
                granted[try row.get("client_id"), default: .empty].formUnion(try row.get("scope"))
            }
            return try db.rows(
                """
                SELECT c.id, c.name, c.scope, m.name AS merchant_name, k.scope AS consented,
                    k.created_at AS consented_at, n.created_at AS connected_at
                FROM clients c LEFT JOIN merchants m
                    ON m.id = c.merchant_id AND \(ClientRight.bearMerchantsName.held(by: "c"))
                LEFT JOIN connections n ON n.client_id = c.id AND n.user_id = \(user)
                LEFT JOIN consents k ON k.client_id = c.id AND k.user_id = \(user) AND \(Consents.isGood)
                WHERE c.deleted_at IS NULL AND c.id IN (SELECT client_id FROM connections WHERE user_id = \(user)
                    UNION ALL SELECT client_id FROM consents WHERE user_id = \(user))
                    AND NOT EXISTS (SELECT 1 FROM merchants g WHERE g.id = c.merchant_id AND g.deleted_at IS NOT NULL)
                """
            ).map { row in try ConnectedApp(row, granted: granted, at: now) }
                .sorted { ($1.since, $0.name, $0.client.text) < ($0.since, $1.name, $1.client.text) }
        }
    }

    /// The scope that `client` has for `user`, within what it is registered for now; nil when they are not connected.
    public func scope(of client: Client, for user: UserID) async throws -> Scope? {
        let now = clock.now
        return try await database.read { db in
            let connected = try db.rows(
                "SELECT 1 AS found FROM connections WHERE user_id = \(user) AND client_id = \(client.id)")
            let consented = try Consents.find(user, client.id, in: db)?.scope
            guard !connected.isEmpty || consented != nil else { return nil }
            let given = try db.rows(
                """
                SELECT scope FROM token_families
                WHERE user_id = \(user) AND client_id = \(client.id) AND ended_at IS NULL AND expires_at > \(now)
                """
            ).reduce(consented ?? .empty) { $0.union(try $1.get("scope")) }
            return ClaimsRequest.rest(of: given, for: client.scope)
        }
    }

    /// Whether `client` need not ask `user` first. Grants from a third-party client's first-party time do not count.
    public func isAllowed(_ client: Client, by user: UserID) async throws -> Bool {
        guard !client.may(.skipConsent) else { return true }
        return try await database.read { db in try Consents.find(user, client.id, in: db) != nil }
    }

    /// Revokes everything that `user` ever gave `client`, at once: tokens, unspent codes, consent and connection.
    /// Publishes that the user left its merchant's apps, and tells the client. A merchant's backend that redeemed codes
    /// as its own client is a separate app.
    /// - Parameters:
    ///   - authority: who revokes it for the user; nil for the user.
    ///   - charge: throws when the user revokes too often, because a revocation may rewrite all rows of the user at a
    ///     merchant.
    public func revoke(
        _ client: Client.ID, of user: UserID, by authority: (any Authority)? = nil,
        charge: @escaping @Sendable (any Transaction) throws -> Void = { _ in }
    ) async throws {
        let now = clock.now
        let said = events.announcement(at: now, by: authority?.actor)
        let announcement = callbacks.announcement(for: said)
        try await database.write { db in
            try authority?.confirm(in: db)
            // Each revocation leaves a row for a while. A code may be on its way to a client that the user has not used
            // yet, but never to a client that does not exist.
            guard let app = try Clients.find(client, in: db) else { return }
            try charge(db)
            try said.say(.clientEnds(client), user, db)
            try CodeEnds.end(of: user, for: client, at: now, in: db)
            try Consents.revoke(user, client, in: db)
            // Otherwise a page of the revoked app would get the user signed in again at once.
            if let merchant = app.introduces {
                try Introductions.forget(user, merchant, in: db)
                try said.say(.disconnected(from: merchant), user, db)
            }
            let wasConnected = try Connections.disconnect(user, from: client, said, in: db)
            if wasConnected { try announcement.revoked(user, by: client, in: db) }
        }
        announcement.send()
        said.send()
    }
}

extension ConnectedApp {
    fileprivate init(_ row: Row, granted: [Client.ID: Scope], at now: Timestamp) throws {
        let id: Client.ID = try row.get("id")
        let consented: Scope? = try row.get("consented")
        let given = (granted[id] ?? .empty).union(consented ?? .empty)
        let dates: [Timestamp?] = [try row.get("connected_at"), try row.get("consented_at")]
        self.init(
            client: id, name: try row.get("name"), merchantName: try row.get("merchant_name"),
            scope: ClaimsRequest.rest(of: given, for: try row.get("scope")),
            since: dates.compactMap(\.self).min() ?? now)
    }
}
