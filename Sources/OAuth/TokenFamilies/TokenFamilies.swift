import Audit
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

    /// What storing a new family entails for older ones.
    static func keepUp(
        _ family: NewTokenFamily, telling announcement: CallbackAnnouncement, in db: any Transaction
    ) throws {
        guard let user = family.user else { return try endOldest(for: family, in: db) }
        guard !family.isStoredAlone else { return }
        try endOldest(for: family, of: user, telling: announcement, in: db)
        if let session = family.subject?.session { try SessionClients.note(family.client, in: session, db) }
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
        switch family.origin {
        case .client: insertion(of: family, nil, path: TokenFamily.Path(family.id), when: condition)
        case .signIn(let signIn): insertion(of: family, signIn, path: TokenFamily.Path(family.id), when: condition)
        case .webView(let signIn, let buyer):
            insertion(of: family, signIn, path: buyer.webView(family.id), when: condition)
        case .code(let code): insertion(of: family, redeeming: code, when: condition ?? .always)
        }
    }

    private static let columns: SQL.Columns =
        """
        id, path, client_id, user_id, scope, signed_in_at, is_dated, method, issuer_id, created_at, expires_at,
        session_id, claims, resource, trial, front_channel, redeemed_by
        """

    private static func insertion(
        of family: NewTokenFamily, _ signIn: SignIn?, path: TokenFamily.Path, when condition: SQL?
    ) -> SQL {
        // PostgreSQL takes untyped values for texts here.
        """
        INSERT INTO token_families (\(columns))
        SELECT \(family.id), \(path), \(family.client), CAST(\(family.user) AS BIGINT), \(family.scope),
            CAST(\(signIn?.at) AS BIGINT), CAST(\(signIn?.isDated) AS BIGINT), \(signIn?.method.rawValue),
            \(signIn?.issuer), CAST(\(family.createdAt) AS BIGINT), CAST(\(family.expiresAt) AS BIGINT),
            \(family.subject?.session), \(family.request.claims?.text), \(family.request.resource),
            \(family.request.trial?.text), CAST(\(family.isOfFrontChannel) AS BIGINT), \(family.redeemedBy)
        WHERE \(condition ?? .always)
        ON CONFLICT (id) DO NOTHING
        """
    }

    /// The same for a family bought with `code`. It copies the sign-in of the buying family `f`, while `f` and what it
    /// rests on are live and `condition` holds.
    private static func insertion(of family: NewTokenFamily, redeeming code: ExchangeCode, when condition: SQL) -> SQL {
        """
        INSERT INTO token_families (\(columns))
        SELECT \(family.id), f.path || \(TokenFamily.Path.ending(family.id, by: .code)), \(family.client), f.user_id,
            \(family.scope),
            f.signed_in_at, f.is_dated, f.method, f.issuer_id, CAST(\(family.createdAt) AS BIGINT),
            CAST(\(family.expiresAt) AS BIGINT), NULL, \(family.request.claims?.text), \(family.request.resource),
            \(family.request.trial?.text), CAST(\(family.isOfFrontChannel) AS BIGINT), \(family.redeemedBy)
        FROM token_families f \(Standing.whatTokensRestOn(of: "f"))
        WHERE f.id = \(code.source) AND f.user_id = \(code.subject.user) AND \(Standing.ofFamily) AND \(condition)
        ON CONFLICT (id) DO NOTHING
        """
    }

    /// The single claims that were requested along with a token family.
    public func claims(of id: TokenFamily.ID) async throws -> ClaimsRequest? {
        try await database.read { db in
            try db.rows("SELECT claims FROM token_families WHERE id = \(id)").first?.get("claims", as: String?.self)
        }.map(ClaimsRequest.init)
    }

    /// Ends a token family of a user or of a client itself, with the web views that it bought, and notifies their
    /// sites. Does nothing when it has ended: a dead token may be presented again and again. The event says that
    /// `client` caused it, and why.
    static func end(
        _ id: TokenFamily.ID, by client: Client, because reason: String, telling announcement: CallbackAnnouncement,
        in db: any Transaction
    ) throws {
        switch try holder(ofLive: id, in: db) {
        case .user(let user):
            try announcement.trail(of: Actor(.client(client.id), of: client.merchant?.text)).record(
                "token_family.ended", on: Party(.tokenFamily, id.text), of: user, client: client.id.text,
                reason: reason, in: db)
            try Ending.carryOut(.familiesEnd([id]), of: user, telling: announcement, at: announcement.now, in: db)
        case .client: try Ending.mark([id], at: announcement.now, in: db)
        case nil: return
        }
    }

    enum Holder {
        case user(UserID)
        /// Its client, which acts for itself.
        case client
    }

    /// The holder of a family; nil when it has ended.
    static func holder(ofLive id: TokenFamily.ID, in db: any Transaction) throws -> Holder? {
        let row = try db.rows("SELECT user_id FROM token_families WHERE id = \(id) AND ended_at IS NULL").first
        return try row.map { row in try row.get("user_id", as: UserID?.self).map(Holder.user) ?? .client }
    }

    /// Whether `client` got tokens in the browser session and still has them, or lost them by expiry only.
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

    /// Whether `family` was got in the browser session, or bought it. Also true when it has ended since.
    public func isOf(_ session: Session.ID, _ family: TokenFamily.ID) async throws -> Bool {
        try await database.read { db in
            try !db.rows(
                """
                SELECT f.id FROM token_families f
                WHERE f.id = \(family) AND (f.session_id = \(session)
                    OR EXISTS (SELECT 1 FROM sessions s WHERE s.id = \(session) AND s.path = f.path))
                """
            ).isEmpty
        }
    }

    /// Whether the user has used a first-party app of `merchant`. A third party's app does not connect the user to the
    /// merchant.
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
                AND \(ClientRight.shareWithMerchant.held(by: "clients")) AND clients.deleted_at IS NULL LIMIT 1
            """
        ).isEmpty
    }

    /// Deletes, in the caller's transaction, a user's connections, consents and accepted terms, because they may be
    /// another user's. Tells the clients. `kept` is the client through which the user signed up.
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

    /// Ends those token families `f` of `user` for which `which` holds, at the will of `authority`, with the web views
    /// that they bought. Returns how many.
    package func end(
        where which: SQL, of user: UserID, at now: Timestamp, by authority: some Authority
    ) async throws -> Int {
        try await events.write(to: database, at: now, by: authority.actor) { db, announcement in
            try authority.confirm(in: db)
            let ids: [TokenFamily.ID] = try db.rows(
                "SELECT f.id FROM token_families f WHERE f.user_id = \(user) AND f.ended_at IS NULL AND \(which)"
            ).map { try $0.get("id") }
            if !ids.isEmpty { try announcement.say(.familiesEnd(ids), user, db) }
            return ids.count
        }
    }

    /// Ends what connects a user to a merchant and its clients, except self-registered ones, and tells them: unspent
    /// codes, token families, consents, connections and the introduction. Publishes the event. False if nothing
    /// connects the user to the merchant.
    @discardableResult
    public func disconnect(
        _ user: UserID, from merchant: Merchant.ID, at now: Timestamp, by authority: some Authority
    ) async throws -> Bool {
        let said = events.announcement(at: now, by: authority.actor)
        let announcement = callbacks.announcement(for: said)
        let isDone = try await database.write { db in
            try authority.confirm(in: db)
            guard try Self.isConnected(user, to: merchant, in: db) else { return false }
            try announcement.disconnected(user, from: merchant, in: db)
            // Before the families, so that the family of a concurrent redemption is either refused or found below.
            try CodeEnds.end(of: user, forAllOf: merchant, at: now, in: db)
            try said.say(.removed(from: merchant), user, db)
            try db.execute(
                """
                DELETE FROM consents WHERE user_id = \(user)
                    AND client_id IN (\(Clients.vouchedFor(by: merchant)))
                """)
            try Connections.disconnect(user, from: merchant, said, in: db)
            try Introductions.forget(user, merchant, in: db)
            try said.say(.disconnected(from: merchant), user, db)
            return true
        }
        announcement.send()
        said.send()
        return isDone
    }
}

extension TokenFamilies {
    /// Ends families that clients of `merchant` got by a sign-in at its issuer `issuer`, as many as one transaction
    /// should. Returns whether there may be more. Other merchants' families are not touched.
    public func endAsserted(by issuer: String, of merchant: Merchant.ID, at now: Timestamp) async throws -> Bool {
        let announcement = callbacks.announcement(at: now)
        let count = try await database.write { db in
            let families: [(user: UserID, id: TokenFamily.ID)] = try db.rows(
                """
                SELECT id, user_id FROM token_families
                WHERE issuer_id = \(issuer) AND ended_at IS NULL
                    AND client_id IN (SELECT id FROM clients WHERE merchant_id = \(merchant))
                LIMIT \(Self.endedAtOnce)
                """
            ).map { (try $0.get("user_id"), try $0.get("id")) }
            for (user, some) in Dictionary(grouping: families, by: \.user) {
                try Ending.carryOut(.familiesEnd(some.map(\.id)), of: user, telling: announcement, at: now, in: db)
            }
            return families.count
        }
        announcement.send()
        return count == Self.endedAtOnce
    }

    private static let endedAtOnce = 50

    /// Whether live families rest on an issuer `i`.
    public static let restOnIssuer: SQL =
        "EXISTS (SELECT 1 FROM token_families f WHERE f.issuer_id = i.id AND f.ended_at IS NULL)"

    /// Whether the end of the issuer ends any of them.
    public static let endWithIssuer: SQL =
        """
        EXISTS (
            SELECT 1 FROM token_families f
            WHERE f.issuer_id = i.id AND f.ended_at IS NULL
                AND f.client_id IN (SELECT k.id FROM clients k WHERE k.merchant_id = i.merchant_id))
        """
}

extension TokenFamilies {
    /// Whether `user` has signed out of `client` since it got an ID token at `issuedAt`: every sign-in that may have
    /// issued it has ended.
    ///
    /// An ID token with a `sid` lasts as long as a family got in that session, which may outlive the session. One
    /// without does not name a device: it lasts as long as the last device that was signed in to the client at
    /// `issuedAt`. Every ID token comes with a token family, which had not expired then.
    /// - Parameter session: the `sid` of the ID token.
    public func hasSignedOut(
        _ user: UserID, of client: Client.ID, since issuedAt: Timestamp, session: String?
    ) async throws -> Bool {
        // `iat` is in whole seconds.
        let nextSecond = issuedAt + .seconds(1)
        let isOfSession: SQL =
            if let session { "f.session_id = \(session)" } else { "f.session_id IS NULL" }
        // Only families for `openid` get ID tokens.
        let isForOpenID: SQL = "REPLACE(' ' || f.scope || ' ', ' openid ', '') <> ' ' || f.scope || ' '"
        return try await database.read { db in
            try db.rows(
                """
                SELECT f.id FROM token_families f \(Standing.whatTokensRestOn(of: "f"))
                WHERE f.user_id = \(user) AND f.client_id = \(client) AND \(Standing.ofFamily)
                    AND f.created_at < \(nextSecond) AND f.expires_at > \(issuedAt)
                    AND \(isOfSession) AND \(isForOpenID)
                LIMIT 1
                """
            ).isEmpty
        }
    }
}
