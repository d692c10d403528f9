public import Directory
public import Storage
public import Values

/// Where permissions are kept.
public struct TokenFamilies: Sendable {
    let database: any Database
    let callbacks: Callbacks

    public init(database: any Database, callbacks: Callbacks) {
        self.database = database
        self.callbacks = callbacks
    }

    /// Stores a new permission and that its person is now connected to its client.
    static func store(_ family: NewTokenFamily, in db: any Transaction) throws {
        try db.execute(
            """
            INSERT INTO token_families (id, parent_id, client_id, user_id, scope, signed_in_at, created_at, expires_at,
                method, session_id, claims, resource, trial, front_channel)
            VALUES (\(family.id), \(family.parent), \(family.client), \(family.user),
                \(family.scope), \(family.signedInAt), \(family.createdAt), \(family.expiresAt),
                \(family.subject?.method), \(family.subject?.session), \(family.request.claims?.text),
                \(family.request.resource), \(family.request.trial?.text), \(family.isOfFrontChannel))
            ON CONFLICT (id) DO NOTHING
            """)
        guard let user = family.user else { return }
        try endOldest(for: family, of: user, in: db)
        if let session = family.subject?.session {
            // By this one its client will hear of the session's end. Who signs in every hour leaves no other behind.
            try db.execute(
                """
                UPDATE token_families SET session_id = NULL
                WHERE session_id = \(session) AND client_id = \(family.client) AND id <> \(family.id)
                    AND expires_at <= \(family.createdAt)
                """)
        }
        try Connections.connect(user, to: family.client, at: family.createdAt, in: db)
    }

    /// The single claims that were asked for with a permission.
    public func claims(of id: TokenFamily.ID) async throws -> ClaimsRequest? {
        try await database.read { db in
            try db.rows("SELECT claims FROM token_families WHERE id = \(id)").first?.get("claims", as: String?.self)
        }.map(ClaimsRequest.init)
    }

    /// Ends a token family, one mark however many tokens it has, and the browser sessions that it bought.
    @discardableResult
    static func end(_ id: TokenFamily.ID, at now: Timestamp, in db: any Transaction) throws -> Bool {
        let ended =
            try db.execute("UPDATE token_families SET ended_at = \(now) WHERE id = \(id) AND ended_at IS NULL") == 1
        if ended { try Sessions.endBought(by: id, at: now, in: db) }
        return ended
    }

    /// Ends the sessions of `user` whose token families have ended: after a statement that ended several.
    static func endBought(of user: UserID, at now: Timestamp, in db: any Transaction) throws {
        let bought = try db.rows(
            """
            SELECT s.id FROM sessions s JOIN token_families p ON p.id = s.family_id
            WHERE s.user_id = \(user) AND s.ended_at IS NULL AND p.ended_at IS NOT NULL
            """)
        for session in bought { try Sessions.mark(try session.get("id"), at: now, in: db) }
    }

    /// Ends a permission of whomever, and tells the clients of the browser sessions that it had bought.
    @discardableResult
    static func end(
        _ id: TokenFamily.ID, telling announcement: CallbackAnnouncement, in db: any Transaction
    ) throws -> Bool {
        guard let user = try user(of: id, in: db) else { return try end(id, at: announcement.now, in: db) }
        return try tellingOfBought(user, announcement, in: db) { try end(id, at: announcement.now, in: db) }
    }

    static func user(of id: TokenFamily.ID, in db: any Transaction) throws -> UserID? {
        try db.rows("SELECT user_id FROM token_families WHERE id = \(id)").first?.get("user_id", as: UserID?.self)
    }

    /// Ends all of a person's permissions, in the caller's transaction: the account was disabled or its password reset.
    public static func endAll(of user: UserID, at now: Timestamp, in db: any Transaction) throws {
        try db.execute("UPDATE token_families SET ended_at = \(now) WHERE user_id = \(user) AND ended_at IS NULL")
        try endBought(of: user, at: now, in: db)
    }

    /// Whether the person has used a client of `merchant`: one that it vouches for, not one that registered itself.
    public func isConnected(_ user: UserID, to merchant: Merchant.ID) async throws -> Bool {
        try await database.read { db in
            try !db.rows(
                """
                SELECT 1 AS found FROM connections JOIN clients ON clients.id = connections.client_id
                WHERE connections.user_id = \(user) AND clients.merchant_id = \(merchant)
                    AND clients.registration_token IS NULL LIMIT 1
                """
            ).isEmpty
        }
    }

    /// Connects a person to a client without a token: a merchant's administrator made the account there.
    public static func connect(
        _ user: UserID, to client: Client.ID, at now: Timestamp, in db: any Transaction
    ) throws {
        try Connections.connect(user, to: client, at: now, in: db)
    }

    /// Forgets, in the caller's transaction, which clients a person used, what they allowed, and the terms they agreed to:
    /// it may have been somebody else. The clients are told. `kept` is the one by which its person signed up.
    public static func forget(
        _ user: UserID, except kept: Client.ID?, telling announcement: CallbackAnnouncement,
        in db: any Transaction
    ) throws {
        let id = kept?.text ?? ""
        try announcement.forgotten(user, except: id, in: db)
        try db.execute("DELETE FROM consents WHERE user_id = \(user) AND client_id <> \(id)")
        try Connections.disconnect(user, except: kept, in: db)
        try Introductions.forgetAll(user, except: id, in: db)
        // The platform's terms have no client. They were shown with those of the one that is kept.
        if kept == nil {
            try db.execute("DELETE FROM agreements WHERE user_id = \(user)")
        } else {
            try db.execute(
                "DELETE FROM agreements WHERE user_id = \(user) AND client_id <> \(id) AND client_id <> ''")
        }
    }

    /// Ends what connects a person to one merchant and its clients, which are told: permissions, consents, connections
    /// and the introduction.
    public func disconnect(_ user: UserID, from merchant: Merchant.ID, at now: Timestamp) async throws {
        let announcement = callbacks.announcement(at: now)
        try await database.write { db in
            try announcement.disconnected(user, from: merchant, in: db)
            _ = try Self.tellingOfBought(user, announcement, in: db) {
                try db.execute(
                    """
                    UPDATE token_families SET ended_at = \(now) WHERE user_id = \(user) AND ended_at IS NULL
                        AND client_id IN (SELECT id FROM clients WHERE merchant_id = \(merchant))
                    """)
            }
            try db.execute(
                """
                DELETE FROM consents WHERE user_id = \(user)
                    AND client_id IN (SELECT id FROM clients WHERE merchant_id = \(merchant))
                """)
            try Connections.disconnect(user, from: merchant, in: db)
            try Introductions.forget(user, merchant, in: db)
        }
        announcement.send()
    }
}
