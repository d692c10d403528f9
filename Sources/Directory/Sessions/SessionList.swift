public import Storage
public import Values

/// The browsers in which a user is signed in.
public struct SessionList: Sendable {
    /// One browser or webview.
    public struct Item: Sendable {
        public let id: Session.ID
        /// The browser's own description of itself.
        public let userAgent: String
        public let address: String
        public let signedInAt: Timestamp
        public let seenAt: Timestamp
        public let isRemembered: Bool
        /// Whether an app's token bought it, without a sign-in there.
        public let isBought: Bool
    }

    private let database: any Database
    private let clock: any WallClock
    private let events: UserEvents

    public init(database: any Database, clock: any WallClock, events: UserEvents) {
        self.database = database
        self.clock = clock
        self.events = events
    }

    /// The live sessions of `user`, the most recently used first.
    public func items(of user: UserID) async throws -> [Item] {
        let now = clock.now
        return try await database.read { db in
            try db.rows(
                """
                SELECT id, user_agent, ip_address, signed_in_at, seen_at, remembered, path
                FROM sessions WHERE user_id = \(user) AND ended_at IS NULL AND expires_at > \(now)
                """
            ).map(Item.init)
        }.sorted { ($0.seenAt, $0.id.text) > ($1.seenAt, $1.id.text) }
    }

    /// Ends one session of `user`. The id of another user's session changes nothing.
    public func end(_ id: Session.ID, of user: UserID) async throws {
        let now = clock.now
        try await events.write(to: database, at: now) { db, announcement in
            let own = try db.rows("SELECT id FROM sessions WHERE id = \(id) AND user_id = \(user)")
            if !own.isEmpty { try Sessions.end(id, at: now, in: db, announcement) }
        }
    }

    /// Signs the user out everywhere except in `session`, which continues with the new `secret`, so that copies of its
    /// cookie end too. False when the session has ended, or been renewed, meanwhile.
    /// - Parameter charge: throws when the user does so too often, because it goes through everything they have.
    public func endOthers(
        than session: Session, renewing secret: Secret<Session>,
        charge: @escaping @Sendable (any Transaction) throws -> Void = { _ in }
    ) async throws -> Bool {
        let now = clock.now
        return try await events.write(to: database, at: now) { db, announcement in
            try charge(db)
            guard try Sessions.renew(session, with: secret, in: db) else { return false }
            let others = try db.rows(
                """
                SELECT id FROM sessions
                WHERE user_id = \(session.user) AND id <> \(session.id) AND ended_at IS NULL
                """
            ).map { try $0.get("id", as: Session.ID.self) }
            let ended = try others.compactMap { try Sessions.live($0, at: now, in: db) }
            for rest in Self.told(of: ended) { try announcement.say(.signedOut(of: rest), session.user, db) }
            try announcement.say(.allSessionsEnd(except: session.id), session.user, db)
            return true
        }
    }

    /// Ends those live sessions of `user` for which `which` holds, at the will of `authority`: `s` is a session, and
    /// `i` the issuer that vouched. Returns how many.
    package func end(
        where which: SQL, of user: UserID, by authority: some Authority
    ) async throws -> Int {
        let now = clock.now
        return try await events.write(to: database, at: now, by: authority.actor) { db, announcement in
            try authority.confirm(in: db)
            let ids: [Session.ID] = try db.rows(
                """
                SELECT s.id FROM sessions s \(Issuers.joined)
                WHERE s.user_id = \(user) AND s.ended_at IS NULL AND s.expires_at > \(now) AND \(which)
                """
            ).map { try $0.get("id") }
            guard !ids.isEmpty else { return 0 }
            let live = try ids.compactMap { try Sessions.live($0, at: now, in: db) }
            for rest in Self.told(of: live) { try announcement.say(.signedOut(of: rest), user, db) }
            try announcement.say(.sessionsEnd(ids), user, db)
            return ids.count
        }
    }

    /// What is said of the end of `sessions`, so that each client hears of it once. All clients hear of a sign-in that
    /// was good everywhere; else those of each merchant, also of web views: the app that bought one stays signed in. A
    /// web view of an app that has no merchant concerns that app alone.
    private static func told(of sessions: [Sessions.Live]) -> Set<UserEvent.SignedOutSession> {
        let rests = sessions.map { session -> UserEvent.SignedOutSession in
            if case .bought = session.rest, let merchant = session.merchant { return .confined(to: merchant) }
            return session.rest
        }
        return rests.contains(.signIn) ? [.signIn] : Set(rests)
    }
}

extension SessionList.Item {
    fileprivate init(_ row: Row) throws {
        self.init(
            id: try row.get("id"), userAgent: try row.get("user_agent"), address: try row.get("ip_address"),
            signedInAt: try row.get("signed_in_at"), seenAt: try row.get("seen_at"),
            isRemembered: try row.get("remembered"),
            isBought: try row.get("path", as: String?.self) != nil)
    }
}

extension Sessions {
    /// Whether `session` is still live, and its cookie still opens it.
    public static func isLive(_ session: Session, in db: any Transaction) throws -> Bool {
        try !db.rows(
            """
            SELECT id FROM sessions
            WHERE id = \(session.id) AND ended_at IS NULL AND renewals = \(session.renewals)
            """
        ).isEmpty
    }
}
