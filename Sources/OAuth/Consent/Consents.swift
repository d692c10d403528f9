public import Directory
public import Storage
public import Values

/// The scope that a user allowed a client, until revoked.
public struct Consent: Sendable, Equatable {
    public let scope: Scope
    public let createdAt: Timestamp
    public let updatedAt: Timestamp
}

/// The stored consents: one for each user and client.
public struct Consents: Sendable {
    private let database: any Database
    private let callbacks: Callbacks

    public init(database: any Database, callbacks: Callbacks) {
        self.database = database
        self.callbacks = callbacks
    }

    /// Whether the identity of client `c` is still the one that consent `k` was given to.
    static let isGood: SQL = "COALESCE(c.identity_changed_at, 0) = k.identity"

    /// The consent of `user` for `client`, or nil. A consent does not count once a self-registered client has changed
    /// its identity.
    public func find(_ user: UserID, _ client: Client.ID) async throws -> Consent? {
        try await database.read { db in try Self.find(user, client, in: db) }
    }

    static func find(_ user: UserID, _ client: Client.ID, in db: any Transaction) throws -> Consent? {
        try db.rows(
            """
            SELECT k.scope, k.created_at, k.updated_at FROM consents k JOIN clients c ON c.id = k.client_id
            WHERE k.user_id = \(user) AND k.client_id = \(client) AND \(isGood)
            """
        ).first.map { row in
            Consent(
                scope: try row.get("scope"), createdAt: try row.get("created_at"), updatedAt: try row.get("updated_at"))
        }
    }

    /// Stores that `user` was shown `shown`, allowed `scope` of it, and accepted `terms`. Scopes that were not shown
    /// stay allowed, except the single claims of a declined scope. Repeating it changes nothing. Allowing less ends the
    /// client's tokens for more.
    ///
    /// False, and nothing is stored, when the client's identity differs from `shownClient`, which the user was shown.
    /// - Parameter charge: throws when the user revokes too often: see `ConnectedApps`.
    public func allow(
        _ scope: Scope, of shown: Scope, to shownClient: Client, by user: UserID, at now: Timestamp,
        accepting terms: [Terms] = [], charge: @escaping @Sendable (any Transaction) throws -> Void = { _ in }
    ) async throws -> Bool {
        let announcement = callbacks.announcement(at: now)
        let client = shownClient.id
        let isStored = try await database.write { db in
            guard try Clients.find(client, in: db)?.identity == shownClient.identity else { return false }
            let known = try Self.find(user, client, in: db)?.scope
            let lost = shown.subtracting(scope)
            let kept = (known ?? .empty).subtracting(shown).subtracting(ClaimsRequest.permissions(of: lost))
            let allowed = kept.union(scope.intersection(shown))
            if lost != .empty {
                let families = try Self.families(of: user, at: client, with: lost, in: db)
                // An earlier code of a third party holds no more than was allowed then.
                if shownClient.may(.skipConsent) || !families.isEmpty || known?.isSubset(of: allowed) == false {
                    try charge(db)
                    if !families.isEmpty {
                        try Ending.carryOut(
                            .familiesEnd(families), of: user, telling: announcement, at: now, in: db)
                    }
                    // The code that follows from this consent may be issued in the same millisecond.
                    try CodeEnds.end(of: user, for: client, at: now - .milliseconds(1), in: db)
                }
            }
            try Agreements.accept(terms, by: user, at: now, in: db)
            guard allowed != known else { return true }
            try db.execute(
                """
                INSERT INTO consents (user_id, client_id, scope, identity, created_at, updated_at)
                VALUES (\(user), \(client), \(allowed), \(shownClient.identity), \(now), \(now))
                ON CONFLICT (user_id, client_id)
                DO UPDATE SET scope = excluded.scope, identity = excluded.identity, updated_at = excluded.updated_at
                """)
            return true
        }
        announcement.send()
        return isStored
    }

    /// The live token families of `user` at `client` that hold any of `lost`.
    private static func families(
        of user: UserID, at client: Client.ID, with lost: Scope, in db: any Transaction
    ) throws -> [TokenFamily.ID] {
        let families = try db.rows(
            """
            SELECT id, scope FROM token_families
            WHERE user_id = \(user) AND client_id = \(client) AND ended_at IS NULL
            """)
        return try families.filter { try $0.get("scope", as: Scope.self).intersection(lost) != .empty }
            .map { try $0.get("id") }
    }

    /// Whether any user has allowed `client` anything, in the caller's transaction.
    package static func areGiven(to client: Client.ID, in db: any Transaction) throws -> Bool {
        try !db.rows("SELECT 1 AS found FROM consents WHERE client_id = \(client) LIMIT 1").isEmpty
    }

    /// Stores, for an import, that `user` uses `client` and allowed it `scope` in another system. A client that asks
    /// for no consent needs only the introduction of its users.
    public static func keep(
        _ scope: Scope, for client: Client, by user: UserID, at time: Timestamp, in db: any Transaction
    ) throws {
        try Connections.connect(user, to: client.id, at: time, in: db)
        if let merchant = client.introduces {
            try Introductions.introduce(user, to: merchant, at: time, in: db)
        }
        guard !client.may(.skipConsent) else { return }
        try db.execute(
            """
            INSERT INTO consents (user_id, client_id, scope, identity, created_at, updated_at)
            VALUES (\(user), \(client.id), \(scope), \(client.identity), \(time), \(time))
            ON CONFLICT (user_id, client_id) DO NOTHING
            """)
    }

    /// Deletes the consent of `user` for `client`, in the caller's transaction: next time the client must ask.
    static func revoke(_ user: UserID, _ client: Client.ID, in db: any Transaction) throws {
        try db.execute("DELETE FROM consents WHERE user_id = \(user) AND client_id = \(client)")
    }
}

extension Client {
    /// The identity of the client that consents are given to.
    fileprivate var identity: Int64 { identityChangedAt?.milliseconds ?? 0 }
}

/// What a third-party client may have only while its user allows it.
///
/// A consent page ends the codes issued before it was submitted. A code that another request stores while that
/// submission waits for its turn is younger, so a redemption asks again.
struct ConsentNeeded: Sendable {
    let user: UserID
    let client: Client.ID
    let scope: Scope

    func isGiven(in db: any Transaction) throws -> Bool {
        try scope.isSubset(of: Consents.find(user, client, in: db)?.scope ?? .empty)
    }
}
