import JSON
public import Storage
public import Values

/// The browser sessions of users. `Session` says how long a session lasts, `table` how long its row is kept.
public struct Sessions: Sendable {
    package let database: any Database
    package let clock: any WallClock
    package let events: UserEvents

    public init(database: any Database, clock: any WallClock, events: UserEvents) {
        self.database = database
        self.clock = clock
        self.events = events
    }

    /// For events about sessions in a transaction that the caller owns.
    public func announcement(at now: Timestamp) -> UserEvents.Announcement { events.announcement(at: now) }

    /// Opens a session in the caller's transaction. It replaces the browser's previous session, whose secret is never
    /// reused.
    package static func begin(
        _ new: Session.Opening, user: UserID, replacing old: Session.ID?, at now: Timestamp, in db: any Transaction,
        _ announcement: UserEvents.Announcement
    ) throws {
        var opening = new
        let purchase = new.purchase
        // Pages that confirm a sign-in do not ask again whether to remember it.
        if new.isRemembered == nil, let old, purchase == nil, new.assertedBy?.isConfined != true {
            opening.isRemembered = try isRemembered(old, of: user, in: db)
        }
        let isRemembered = opening.isRemembered == true
        let client = purchase == nil ? nil : opening.client
        let signIn = opening.signIn(at: now)
        // The `sid` that clients know stays the same when the same user signs in again in this browser. Codes that were
        // got by the former sign-in end with it: what they gave would rest on a sign-in that the session has no more.
        let isRenewed = try old.map { old in
            guard try mayRenew(old, boughtBy: purchase?.path, confinedTo: opening.assertedBy?.merchant, in: db) else {
                return false
            }
            return try db.execute(
                """
                UPDATE sessions SET fingerprint = \(opening.secret.fingerprint), renewals = renewals + 1,
                    path = \(purchase?.path), client_id = \(client), buyer_id = \(purchase?.client),
                    signed_in_at = \(signIn.at),
                    is_dated = \(signIn.isDated), method = \(signIn.method.rawValue), issuer_id = \(signIn.issuer),
                    created_at = \(now), seen_at = \(now), expires_at = \(opening.expiry(from: now)),
                    user_agent = \(opening.userAgent), ip_address = \(opening.address),
                    remembered = \(isRemembered), merchant_id = \(opening.assertedBy?.merchant)
                WHERE id = \(old) AND user_id = \(user) AND ended_at IS NULL
                """) == 1
        }
        if isRenewed != true {
            if let old { try displace(old, at: now, in: db, announcement) }
            try db.execute(
                """
                INSERT INTO sessions (id, fingerprint, user_id, path, client_id, buyer_id, signed_in_at, is_dated,
                    method, issuer_id, created_at, seen_at, expires_at, user_agent, ip_address, remembered, merchant_id)
                VALUES (\(opening.id), \(opening.secret.fingerprint), \(user), \(purchase?.path), \(client),
                    \(purchase?.client), \(signIn.at), \(signIn.isDated), \(signIn.method.rawValue),
                    \(signIn.issuer), \(now), \(now), \(opening.expiry(from: now)), \(opening.userAgent),
                    \(opening.address), \(isRemembered), \(opening.assertedBy?.merchant))
                ON CONFLICT (id) DO NOTHING
                """)
        }
        let id = isRenewed == true ? old ?? opening.id : opening.id
        try displaceSurplus(of: user, beside: id, at: now, in: db, announcement)
        try forgetEnded(of: user, after: opening.id, in: db)
    }

    /// Whether a session that a token bought, or that is good for the merchant `confined` only, may take the place of
    /// `old` in its browser, and its `sid`. Both must rest on the same, so that one cause ends both.
    private static func mayRenew(
        _ old: Session.ID, boughtBy path: TokenFamily.Path?, confinedTo confined: Merchant.ID?, in db: any Transaction
    ) throws -> Bool {
        guard path != nil || confined != nil else { return true }
        let row = try db.rows("SELECT path, merchant_id FROM sessions WHERE id = \(old)").first
        return try row?.get("path", as: String?.self) == path?.text
            && row?.get("merchant_id", as: String?.self) == confined?.text
    }

    /// Gives a session another secret. Its old cookie opens it no more, and what was got with that ends: codes, and
    /// sessions at hosts of clients' sites. Everything else stays. False when the session has ended or been renewed
    /// meanwhile: of several requests with the same cookie, one gets the next.
    package static func renew(
        _ session: Session, with secret: Secret<Session>, in db: any Transaction
    ) throws -> Bool {
        // Its own secret, if the transaction runs again after a COMMIT of unknown outcome.
        let isRenewed =
            try db.execute(
                """
                UPDATE sessions SET fingerprint = \(secret.fingerprint), renewals = \(session.renewals + 1)
                WHERE id = \(session.id) AND ended_at IS NULL
                    AND (renewals = \(session.renewals) OR fingerprint = \(secret.fingerprint))
                """) == 1
        if isRenewed { try HostSessions.end(of: [session.id], in: db) }
        return isRenewed
    }

    private static func isRemembered(
        _ id: Session.ID, of user: UserID, in db: any Transaction
    ) throws -> Bool {
        try !db.rows(
            "SELECT id FROM sessions WHERE id = \(id) AND user_id = \(user) AND remembered = 1 AND ended_at IS NULL"
        ).isEmpty
    }

    /// The live session of a cookie. Using a session keeps it alive; this is stored at most once a minute.
    public func find(_ secret: Secret<Session>) async throws -> Session? {
        let fingerprint = secret.fingerprint
        return try await find { _ in fingerprint }
    }

    /// The live session whose fingerprint `name` finds. Using it keeps it alive, as above.
    func find(
        named name: @escaping @Sendable (any Transaction) throws -> Fingerprint<Session>?
    ) async throws -> Session? {
        let now = clock.now
        let found = try await database.read { db in
            try name(db).map { (fingerprint: $0, session: try Self.find($0, at: now, in: db)) }
        }
        guard let fingerprint = found?.fingerprint, let session = found?.session else { return nil }
        if now - session.seenAt >= .seconds(60) {
            let expiresAt = session.expiry(usedAt: now)
            try await database.write { db in
                _ = try db.execute(
                    """
                    UPDATE sessions SET seen_at = \(now), expires_at = \(expiresAt)
                    WHERE id = \(session.id) AND fingerprint = \(fingerprint) AND ended_at IS NULL
                    """)
            }
        }
        return session
    }

    private static let showsAccount = ClientRight.showAccountInWebViews.held(by: "c")

    /// The live session with this `fingerprint`, unless its user, merchant, client, the client that bought it, or the
    /// issuer that asserted it is disabled.
    static func find(
        _ fingerprint: Fingerprint<Session>, at now: Timestamp, in db: any Transaction
    ) throws -> Session? {
        try db.rows(
            """
            SELECT \(columns) FROM sessions s \(Standing.whatSessionsRestOn)
            WHERE s.fingerprint = \(fingerprint) AND s.expires_at > \(now) AND \(Standing.ofSession)
            """
        ).first.map(Session.init)
    }

    /// The session with this `fingerprint`, also while it rests, and whether it is live.
    static func look(
        at fingerprint: Fingerprint<Session>, at now: Timestamp, in db: any Transaction
    ) throws -> (session: Session, isLive: Bool)? {
        try db.rows(
            """
            SELECT \(columns), CASE WHEN \(Standing.ofSession) THEN 1 ELSE 0 END AS is_live
            FROM sessions s \(Standing.whatSessionsRestOn)
            WHERE s.fingerprint = \(fingerprint) AND s.expires_at > \(now) AND s.ended_at IS NULL
            """
        ).first.map { row in (try Session(row), try row.get("is_live")) }
    }

    /// What `Session` reads of rows with what they rest on.
    private static let columns: SQL =
        """
        s.id, s.user_id, s.path, \(Issuers.merchant) AS vouched_for, s.signed_in_at, s.is_dated, s.method, s.issuer_id,
        s.seen_at, s.renewals, s.created_at, s.remembered, u.email, u.email_verified, c.merchant_id,
        CASE WHEN \(showsAccount) THEN 1 ELSE 0 END AS shows_account
        """

    /// Whether the session that `opening` opened is live and has kept that secret, while the browser shows no other
    /// live session, `shown`.
    package static func isOpen(
        _ opening: Session.Opening, beside shown: Session.ID?, at now: Timestamp, in db: any Transaction
    ) throws -> Bool {
        guard let session = try find(opening.secret.fingerprint, at: now, in: db) else { return false }
        return try shown.map { try $0 == session.id || live($0, at: now, in: db) == nil } ?? true
    }

    /// Signs the user of a session out, at their request.
    public func end(_ id: Session.ID) async throws {
        let now = clock.now
        try await events.write(to: database, at: now) { db, announcement in
            try Self.end(id, at: now, in: db, announcement)
        }
    }
}

extension Session {
    /// When it ends unless it is used again.
    public func expiry(usedAt now: Timestamp) -> Timestamp {
        isRemembered
            ? createdAt + Session.rememberedLifetime
            : min(now + Session.idleLifetime, createdAt + Session.longestLifetime)
    }

    /// When it ends, however it is used.
    package var latestExpiry: Timestamp {
        createdAt + (isRemembered ? Session.rememberedLifetime : Session.longestLifetime)
    }

    init(_ row: Row) throws {
        self.init(
            id: try row.get("id"), user: try row.get("user_id"), email: try row.get("email"),
            emailVerified: try row.get("email_verified"),
            signIn: try SignIn(row),
            origin: try Self.origin(row), buyer: try row.get("path"),
            isRemembered: try row.get("remembered"),
            showsAccount: try row.get("shows_account"),
            renewals: try row.get("renewals"), seenAt: try row.get("seen_at"),
            createdAt: try row.get("created_at"))
    }

    private static func origin(_ row: Row) throws -> Origin {
        if let merchant = try row.get("vouched_for", as: Merchant.ID?.self) { return .asserted(merchant: merchant) }
        guard try row.get("path", as: String?.self) != nil else { return .signIn }
        return .bought(merchant: try row.get("merchant_id"))
    }
}

extension Sessions {
    /// A row stays until its session would have expired, ended or not: ending a session moves no row.
    static let table = StoredTable(
        "sessions", retention: [.rows("sessions", key: "id", until: "expires_at")],
        ofUser: .batches(owner: "user_id", key: "id"), ofMerchant: .batches(owner: "merchant_id", key: "id"),
        export: [Sessions.export])
}

/// The sessions of a browser: the current one, and those that it keeps beside it, for other users.
extension Sessions {
    /// The sessions of `secrets` that have not ended or expired, in their order, and which of them are live: the others
    /// rest. This is the look-up for what is to be ended, replaced or left, since one that rests would come back.
    ///
    /// Looking does not count as use, so they end no later for it.
    package func look(
        at secrets: [Secret<Session>]
    ) async throws -> [(secret: Secret<Session>, session: Session, isLive: Bool)] {
        let now = clock.now
        return try await database.read { db in
            try secrets.compactMap { secret in
                try Self.look(at: secret.fingerprint, at: now, in: db).map { (secret, $0.session, $0.isLive) }
            }
        }
    }

    /// Ends sessions that a browser has no room for. Their users did not sign out, so only the end is published.
    package func displace(_ ids: [Session.ID]) async throws {
        guard !ids.isEmpty else { return }
        let now = clock.now
        try await events.write(to: database, at: now) { db, announcement in
            for id in ids { try Self.displace(id, at: now, in: db, announcement) }
        }
    }

    /// Signs out the users of all sessions of a browser, at the request of its current user.
    package func end(_ ids: [Session.ID]) async throws {
        let now = clock.now
        try await events.write(to: database, at: now) { db, announcement in
            for id in ids { try Self.end(id, at: now, in: db, announcement) }
        }
    }
}

extension Sessions {
    /// Includes the ended ones, as long as they are kept.
    static let export = StoredTable.Export.member("sessions") { user, db in
        .array(
            try ["ended_at IS NULL", "ended_at IS NOT NULL"].flatMap { (ended: SQL) in
                try db.rows(
                    """
                    SELECT user_agent, ip_address, method, buyer_id, remembered, signed_in_at, created_at, seen_at,
                        expires_at, ended_at
                    FROM sessions WHERE user_id = \(user) AND \(ended) LIMIT \(StoredTable.Export.most)
                    """)
            }.map { row in
                .members([
                    "device": .string(try row.get("user_agent")), "address": .string(try row.get("ip_address")),
                    "signed_in_by": .string(try row.get("method")),
                    "bought_by": try row.get("buyer_id", as: String?.self).map { .string($0) },
                    "remembered": .bool(try row.get("remembered")),
                    "signed_in_at": try row.utc("signed_in_at"), "opened_at": try row.utc("created_at"),
                    "last_seen_at": try row.utc("seen_at"), "expires_at": try row.utc("expires_at"),
                    "ended_at": try row.utc("ended_at"),
                ])
            })
    }
}
