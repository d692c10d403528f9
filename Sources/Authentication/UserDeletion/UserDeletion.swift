public import Directory
public import Storage
public import Values

/// Deletes users: after a grace period when they ask for it, at once when the platform does.
///
/// A user to be deleted has `deletion_due_at` set and can no longer do anything. When that time has passed, the request
/// that set it or the sweeper of any node finishes the deletion, also after a crash in between.
///
/// docs/architecture.md ("The life of a deleted user") lists what goes when, and who acts. The subscribers are composed
/// in Sources/Server/UserEvents+subscribers.swift; each table's `StoredTable` says what becomes of its rows.
public struct UserDeletion: Sendable {
    let database: any Database
    /// Deletes rows that are too many for one transaction, in batches, before the user's own row.
    let erasure: BulkErasure
    /// How long a user can cancel.
    public let grace: Duration
    let clock: any WallClock
    let events: UserEvents

    public init(
        database: any Database, grace: Duration, erasure: BulkErasure, clock: any WallClock, events: UserEvents
    ) {
        self.database = database
        self.grace = grace
        self.erasure = erasure
        self.clock = clock
        self.events = events
    }

    /// The result of a user's request.
    public enum Outcome: Sendable, Equatable {
        case scheduled(Timestamp)
        case deleted
        /// Nothing happened: the password was changed meanwhile, or the session ended.
        case overtaken
    }

    /// Deletes the user of `session` at their request, after the grace period, or at once if there is none. Ends all
    /// tokens and sessions now. `post` queues the mail that names the date, in the same transaction. Throws
    /// `PasswordSignIn.Refusal.throttled` after many requests.
    public func request(
        by session: Session, proof: PasswordSignIn.Proof?, post: @escaping Users.Post
    ) async throws -> Outcome {
        let now = clock.now
        let due = dueAt(askedAt: now)
        let outcome: Outcome = try await events.write(to: database, at: now) { [self] db, announcement in
            let row = try db.rows(
                "SELECT email, password_hash, deletion_due_at FROM users WHERE id = \(session.user)"
            ).first
            guard let row else { return .deleted }
            // A form sent twice, or a retry after a COMMIT of unknown outcome.
            if let earlier: Timestamp = try row.get("deletion_due_at") { return .scheduled(earlier) }
            guard try Users.permits(proof, for: session, current: try Users.confirming(row), in: db) else {
                return .overtaken
            }
            try Throttle.chargeDeletion(of: session.user, at: now, in: db)
            guard due > now else {
                // The deletion itself will be announced when it happens.
                try mark(session.user, dueAt: due, at: now, in: db, announcement)
                return .scheduled(due)
            }
            try announcement.watching(session.user, in: db) {
                try mark(session.user, dueAt: due, at: now, in: db, announcement)
            }
            try post(db)
            return .scheduled(due)
        }
        guard case .scheduled(let due) = outcome, due <= now else { return outcome }
        var budget = BulkErasure.Budget.request
        _ = try await finish(session.user, at: now, &budget)
        return .deleted
    }

    /// When a user who asks at `now` will be deleted.
    public func dueAt(askedAt now: Timestamp) -> Timestamp { now + grace }

    /// Deletes a user at once, without their consent. False if there is none. A user with more data than a request may
    /// delete can do nothing from now on; the sweeper deletes the rest.
    public func delete(
        _ id: UserID, within budget: BulkErasure.Budget = .request, by authority: some Authority
    ) async throws -> Bool {
        let now = clock.now
        let exists = try await events.write(to: database, at: now) { [self] db, announcement in
            try authority.confirm(in: db)
            guard try User.find(id, in: db) != nil else { return false }
            try mark(id, dueAt: now, at: now, in: db, announcement)
            return true
        }
        // If another request was faster, it deleted the user.
        var budget = budget
        if exists { _ = try await finish(id, at: now, &budget) }
        return exists
    }

    private func mark(
        _ id: UserID, dueAt due: Timestamp, at now: Timestamp, in db: any Transaction,
        _ announcement: UserEvents.Announcement
    ) throws {
        try User.scheduleDeletion(of: id, at: due, in: db)
        try announcement.say(.accessRevoked(keeping: nil), id, db)
    }
}
