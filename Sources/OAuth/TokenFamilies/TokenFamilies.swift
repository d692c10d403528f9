public import Directory
public import Storage
public import Values

/// The stored token families.
public struct TokenFamilies: Sendable {
    let database: any Database
    let callbacks: Callbacks
    let events: UserEvents

    public init(database: any Database, callbacks: Callbacks, events: UserEvents) {
        self.database = database
        self.callbacks = callbacks
        self.events = events
    }

    /// Stores a new token family and the connection of its user to its client.
    static func store(
        _ family: NewTokenFamily, telling announcement: CallbackAnnouncement, in db: any Transaction
    ) throws {
        for sql in insertions(of: family, when: nil) { try db.enqueue(sql) }
        try keepUp(family, telling: announcement, in: db)
    }

    /// What a new family, just stored, brings with it for older ones.
    static func keepUp(
        _ family: NewTokenFamily, telling announcement: CallbackAnnouncement, in db: any Transaction
    ) throws {
        guard let user = family.user else { return try endOldest(for: family, in: db) }
        guard !family.isStoredAlone else { return }
        try endOldest(for: family, of: user, telling: announcement, in: db)
        if let session = family.subject?.session {
            // The new family tells the client of the session's end. Hourly sign-ins leave no other family behind.
            try db.enqueue(
                """
                UPDATE token_families SET session_id = NULL
                WHERE session_id = \(session) AND client_id = \(family.client) AND id <> \(family.id)
                    AND (expires_at <= \(family.createdAt) OR ended_at IS NOT NULL)
                """)
        }
    }

    /// Stores it, if `condition` holds, unless its redemption does.
    static func insertions(of family: NewTokenFamily, when condition: SQL?) -> [SQL] {
        var all = family.redeemedBy == nil ? [insertion(of: family, when: condition)] : []
        if let user = family.user {
            all.append(Connections.insertion(of: user, family.client, at: family.createdAt, when: condition))
        }
        return all
    }

    /// Stores it alone, if `condition` holds.
    static func insertion(of family: NewTokenFamily, when condition: SQL?) -> SQL {
        // PostgreSQL takes values without a type for texts here.
        """
        INSERT INTO token_families (id, parent_id, client_id, user_id, scope, signed_in_at, created_at, expires_at,
            method, session_id, sid, issuer_id, claims, resource, trial, front_channel, redeemed_by, ancestors,
            opened_by, bought_with)
        SELECT \(family.id), \(family.parent), \(family.client), CAST(\(family.user) AS BIGINT), \(family.scope),
            CAST(\(family.signedInAt) AS BIGINT), CAST(\(family.createdAt) AS BIGINT),
            CAST(\(family.expiresAt) AS BIGINT), \(family.subject?.method), \(family.subject?.session),
            \(family.subject?.session),
            \(issuer(of: family)), \(family.request.claims?.text), \(family.request.resource),
            \(family.request.trial?.text),
            CAST(\(family.isOfFrontChannel) AS BIGINT), \(family.redeemedBy), \(ancestors(of: family)),
            \(opening(of: family)), \(token(of: family))
        WHERE \(condition ?? .always)
        ON CONFLICT (id) DO NOTHING
        """
    }

    /// The issuer that vouched for the sign-in: that of the request, or of what the family comes from.
    private static func issuer(of family: NewTokenFamily) -> SQL {
        if let issuer = family.subject?.issuer { return "\(issuer)" }
        if let parent = family.parent { return "(SELECT issuer_id FROM token_families WHERE id = \(parent))" }
        guard let session = family.subject?.session else { return "NULL" }
        return "(SELECT issuer_id FROM sessions WHERE id = \(session))"
    }

    /// The method of the sign-in: that of the request, or of what the family comes from. One by an issuer that did not
    /// say when has a name of its own, which the request does not know.
    private static func opening(of family: NewTokenFamily) -> SQL {
        let undated = Session.Method.issuerUndated.rawValue
        if family.subject?.isDated == false { return "\(undated)" }
        if let method = family.subject?.method {
            guard method == AuthenticationContext.byIssuer, let session = family.subject?.session else {
                return "\(method)"
            }
            return "COALESCE((SELECT method FROM sessions WHERE id = \(session)), \(undated))"
        }
        if family.subject?.issuer != nil { return "\(Session.Method.issuer.rawValue)" }
        guard let parent = family.parent else { return "NULL" }
        return """
            (SELECT COALESCE(opened_by,
                CASE WHEN method = \(AuthenticationContext.byIssuer) THEN \(undated) ELSE method END)
            FROM token_families WHERE id = \(parent))
            """
    }

    /// Those of the parent's, as many as fit into so many characters: a family that lives outlives some of them, and
    /// its device's logout reaches it all the same.
    private static func ancestors(of family: NewTokenFamily) -> SQL {
        guard let parent = family.parent else { return "NULL" }
        return """
            (SELECT SUBSTR(parent_id || ' ' || COALESCE(ancestors, ''), 1, 400)
            FROM token_families WHERE id = \(parent))
            """
    }

    /// The fingerprint of the token that bought the session in which the family was got, if one did.
    private static func token(of family: NewTokenFamily) -> SQL {
        guard let parent = family.parent, let session = family.subject?.session else { return "NULL" }
        return "(SELECT bought_with FROM sessions WHERE id = \(session) AND family_id = \(parent))"
    }

    /// The single claims that were requested along with a token family.
    public func claims(of id: TokenFamily.ID) async throws -> ClaimsRequest? {
        try await database.read { db in
            try db.rows("SELECT claims FROM token_families WHERE id = \(id)").first?.get("claims", as: String?.self)
        }.map(ClaimsRequest.init)
    }

    /// Ends a token family: a single write, however many tokens it has.
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

    /// Ends a token family, with or without a user, and tells the clients of the browser sessions that it bought. Does
    /// nothing when it has ended: whoever holds a dead token may show it again and again.
    @discardableResult
    static func end(
        _ id: TokenFamily.ID, telling announcement: CallbackAnnouncement, in db: any Transaction
    ) throws -> Bool {
        guard let holder = try holder(ofLive: id, in: db) else { return false }
        guard case .user(let user) = holder else { return try end(id, at: announcement.now, in: db) }
        return try tellingOfBought(user, ending: [id], announcement, in: db) {
            try end(id, at: announcement.now, in: db)
        }
    }

    enum Holder {
        case user(UserID)
        /// Its client, which acts for itself.
        case client
    }

    /// Whose a family is; nil when it has ended.
    static func holder(ofLive id: TokenFamily.ID, in db: any Transaction) throws -> Holder? {
        let row = try db.rows("SELECT user_id FROM token_families WHERE id = \(id) AND ended_at IS NULL").first
        return try row.map { row in try row.get("user_id", as: UserID?.self).map(Holder.user) ?? .client }
    }

    /// Ends all token families of a user, in the caller's transaction: the user was disabled or the password reset.
    public static func endAll(of user: UserID, at now: Timestamp, in db: any Transaction) throws {
        try db.execute("UPDATE token_families SET ended_at = \(now) WHERE user_id = \(user) AND ended_at IS NULL")
        try endBought(of: user, at: now, in: db)
    }

    /// Whether `client` got tokens in the browser session, and has not lost them since, other than by their age.
    public func isSignedIn(_ client: Client.ID, in session: Session.ID) async throws -> Bool {
        try await database.read { db in
            try !db.rows(
                """
                SELECT 1 AS found FROM token_families
                WHERE session_id = \(session) AND client_id = \(client) AND ended_at IS NULL LIMIT 1
                """
            ).isEmpty
        }
    }

    /// Whether the tokens of `family` were got in the browser session, or bought it. Also when they have ended since.
    public func isOf(_ session: Session.ID, _ family: TokenFamily.ID) async throws -> Bool {
        try await database.read { db in
            let got = try db.rows(
                """
                SELECT id FROM token_families
                WHERE id = \(family) AND COALESCE(sid, session_id) = \(session)
                """)
            guard got.isEmpty else { return true }
            return try !db.rows("SELECT id FROM sessions WHERE id = \(session) AND family_id = \(family)").isEmpty
        }
    }

    /// Whether the user has used one of the own apps of `merchant`. A third party's is none: the user allowed that one
    /// a scope, and the merchant nothing.
    public func isConnected(_ user: UserID, to merchant: Merchant.ID) async throws -> Bool {
        try await database.read { db in try Self.isConnected(user, to: merchant, in: db) }
    }

    /// The same in the caller's transaction.
    public static func isConnected(
        _ user: UserID, to merchant: Merchant.ID, in db: any Transaction
    ) throws -> Bool {
        try !db.rows(
            """
            SELECT 1 AS found FROM connections JOIN clients ON clients.id = connections.client_id
            WHERE connections.user_id = \(user) AND clients.merchant_id = \(merchant)
                AND clients.first_party = 1 AND clients.deleted_at IS NULL LIMIT 1
            """
        ).isEmpty
    }

    /// Deletes, in the caller's transaction, a user's connections, consents and accepted terms, because they may be
    /// someone else's. Tells the clients. `kept` is the client through which the user signed up.
    public static func forget(
        _ user: UserID, except kept: Client.ID?, telling announcement: CallbackAnnouncement,
        _ said: UserEvents.Announcement, in db: any Transaction
    ) throws {
        let id = kept?.text ?? ""
        try announcement.forgotten(user, except: id, in: db)
        try db.execute("DELETE FROM consents WHERE user_id = \(user) AND client_id <> \(id)")
        try Connections.disconnect(user, except: kept, said, in: db)
        try Introductions.forgetAll(user, except: id, in: db)
        // The platform's terms have no client. They were shown with those of the kept client.
        if kept == nil {
            try db.execute("DELETE FROM agreements WHERE user_id = \(user)")
        } else {
            try db.execute(
                "DELETE FROM agreements WHERE user_id = \(user) AND client_id <> \(id) AND client_id <> ''")
        }
    }

    /// Has families of `user` tell nobody of their browser sessions' ends: their user or merchant revoked them.
    static func forgetSessions(of user: UserID, _ which: SQL, in db: any Transaction) throws {
        try db.execute(
            """
            UPDATE token_families SET session_id = NULL
            WHERE user_id = \(user) AND session_id IS NOT NULL AND \(which)
            """)
    }

    /// Ends what connects a user to a merchant and its clients, not those that registered themselves, and tells them:
    /// unspent codes, token families, consents, connections and the introduction; and says so. `confirm`, which repeats
    /// the checks that were made before this call, refuses by throwing.
    public func disconnect(
        _ user: UserID, from merchant: Merchant.ID, at now: Timestamp,
        confirm: @escaping @Sendable (any Transaction) throws -> Void = { _ in }
    ) async throws {
        let said = events.announcement(at: now)
        let announcement = callbacks.announcement(for: said)
        try await database.write { db in
            try confirm(db)
            try announcement.disconnected(user, from: merchant, in: db)
            // Before the families: that of a redemption which is faster is there then.
            try CodeEnds.end(of: user, forAllOf: merchant, at: now, in: db)
            let isOfMerchant: SQL = "client_id IN (\(Clients.vouchedFor(by: merchant)))"
            let ending = try Self.live(of: user, isOfMerchant, in: db)
            _ = try Self.tellingOfBought(user, ending: ending, announcement, in: db) {
                try db.execute(
                    """
                    UPDATE token_families SET ended_at = \(now)
                    WHERE user_id = \(user) AND ended_at IS NULL AND \(isOfMerchant)
                    """)
                try Self.forgetSessions(of: user, isOfMerchant, in: db)
            }
            try db.execute(
                """
                DELETE FROM consents WHERE user_id = \(user)
                    AND client_id IN (\(Clients.vouchedFor(by: merchant)))
                """)
            try Connections.disconnect(user, from: merchant, said, in: db)
            try Introductions.forget(user, merchant, in: db)
            try said.say(.disconnected(from: merchant), user, db)
        }
        announcement.send()
        said.send()
    }
}
