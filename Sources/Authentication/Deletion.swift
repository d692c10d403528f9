public import Directory
public import Storage
public import Values

/// The end of an account: when its person asks for it, with time to think again, or at once when the platform does.
///
/// Whoever is to be deleted has `deletion_due_at` set and can do nothing any more. What comes after that moment anybody
/// may finish: the request that brought it about, the sweeper of any node, also after a crash in between.
public struct Deletion: Sendable {
    /// What others have to do when an account goes: this module knows neither tokens nor mail.
    public struct Strangers: Sendable {
        let endAccess: Users.EndAccess
        let clear: @Sendable (UserID) async throws -> Void
        let farewell: @Sendable (User, Timestamp, any Transaction) throws -> Void

        /// - Parameters:
        ///   - endAccess: ends every token.
        ///   - clear: takes away the bulk of what the account has, in batches, before the account itself goes.
        ///   - farewell: takes leave of the person, in the transaction in which the account goes.
        public init(
            endAccess: @escaping Users.EndAccess, clear: @escaping @Sendable (UserID) async throws -> Void,
            farewell: @escaping @Sendable (User, Timestamp, any Transaction) throws -> Void
        ) {
            self.endAccess = endAccess
            self.clear = clear
            self.farewell = farewell
        }
    }

    let database: any Database
    let strangers: Strangers
    /// How long a person can change their mind.
    public let grace: Duration
    let clock: any WallClock
    let news: UserEvents

    public init(
        database: any Database, grace: Duration, strangers: Strangers, clock: any WallClock, news: UserEvents
    ) {
        self.database = database
        self.grace = grace
        self.strangers = strangers
        self.clock = clock
        self.news = news
    }

    /// What a person's wish came to.
    public enum Outcome: Sendable, Equatable {
        case scheduled(Timestamp)
        case deleted
        /// The password was changed meanwhile, or the session ended: nothing happened.
        case overtaken
    }

    /// The wish of the person of `session`. Ends every token and session; deletes after the time of grace, or at once
    /// where there is none. `also` joins the transaction that schedules: the mail that says until when.
    public func request(
        by session: Session, proof: SignIn.Proof?, also: @escaping @Sendable (any Transaction) throws -> Void
    ) async throws -> Outcome {
        let now = clock.now
        let due = dueAt(askedAt: now)
        let outcome: Outcome = try await news.write(to: database, at: now) { [self] db, announcement in
            let row = try db.rows(
                "SELECT password_hash, deletion_due_at FROM users WHERE id = \(session.user)"
            ).first
            guard let row else { return .deleted }
            // A form sent twice, or a retry after a COMMIT of unknown outcome.
            if let earlier: Timestamp = try row.get("deletion_due_at") { return .scheduled(earlier) }
            guard try Users.permits(proof, for: session, current: try row.get("password_hash"), in: db) else {
                return .overtaken
            }
            guard due > now else {
                // That it is gone is said when it is.
                try mark(session.user, dueAt: due, at: now, in: db, announcement)
                return .scheduled(due)
            }
            try announcement.watching(session.user, in: db) {
                try mark(session.user, dueAt: due, at: now, in: db, announcement)
            }
            try also(db)
            return .scheduled(due)
        }
        guard case .scheduled(let due) = outcome, due <= now else { return outcome }
        _ = try await finish(session.user, at: now)
        return .deleted
    }

    /// When an account goes whose person asks for it at `now`.
    public func dueAt(askedAt now: Timestamp) -> Timestamp { now + grace }

    /// Deletes an account at once, whoever wants to keep it. False when there is none.
    public func delete(_ id: UserID) async throws -> Bool {
        let now = clock.now
        let exists = try await news.write(to: database, at: now) { [self] db, announcement in
            guard try User.find(id, in: db) != nil else { return false }
            try mark(id, dueAt: now, at: now, in: db, announcement)
            return true
        }
        // Whoever was quicker deleted it as well.
        if exists { _ = try await finish(id, at: now) }
        return exists
    }

    private func mark(
        _ id: UserID, dueAt due: Timestamp, at now: Timestamp, in db: any Transaction,
        _ announcement: UserEvents.Announcement
    ) throws {
        try User.scheduleDeletion(of: id, at: due, in: db)
        try Sessions.endAll(of: id, at: now, in: db, announcement)
        try strangers.endAccess(id, now, db)
        try Verifications.endAll(of: id, at: now, in: db)
    }
}
