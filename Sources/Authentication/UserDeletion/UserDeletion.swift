import Audit
public import Directory
public import Storage
public import Values

/// Deletes users: after a grace period when they ask for it, at once when the platform does.
///
/// A user to be deleted has `deletion_due_at` set and can no longer do anything. When that time has passed, the request
/// that set it or the sweeper of any node finishes the deletion, also after a crash in between.
///
/// docs/architecture.md ("The life of a deleted user") lists what goes when, and who acts. The subscribers are composed
/// in Sources/Server/Composition.swift; each table's `StoredTable` says what becomes of its rows.
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
        let exists = try await events.write(to: database, at: now, by: authority.actor) { [self] db, announcement in
            try authority.confirm(in: db)
            guard try User.find(id, in: db) != nil else { return false }
            try mark(id, dueAt: now, at: now, in: db, announcement)
            return true
        }
        // If another request was faster, it deleted the user.
        var budget = budget
        if exists { _ = try await finish(id, at: now, by: authority.actor, &budget) }
        return exists
    }

    /// Begins the deletion of a user at the will of `authority`, as the user could: they can cancel it until the time
    /// that is returned. Ends all tokens and sessions now. `post` queues the mail that names the date. Nil if there is
    /// no such user. Throws `PasswordSignIn.Refusal.throttled` after many requests.
    public func begin(
        _ id: UserID, by authority: some UserAuthority,
        post: @escaping @Sendable (User, any Transaction) throws -> Void
    ) async throws -> Timestamp? {
        let now = clock.now
        let due = dueAt(askedAt: now)
        let found = try await events.write(to: database, at: now, by: authority.actor) {
            [self] db, announcement -> Timestamp? in
            try authority.confirm(in: db)
            guard try authority.covers(id, in: db), let user = try User.find(id, in: db) else { return nil }
            if let earlier = user.deletionDueAt { return earlier }
            try Throttle.chargeDeletion(of: id, at: now, in: db)
            guard due > now else {
                try mark(id, dueAt: due, at: now, in: db, announcement)
                return due
            }
            try announcement.watching(id, in: db) { try mark(id, dueAt: due, at: now, in: db, announcement) }
            try post(user, db)
            return due
        }
        if let found, found <= now {
            var budget = BulkErasure.Budget.request
            _ = try await finish(id, at: now, by: authority.actor, &budget)
        }
        return found
    }

    /// Cancels the deletion of a user, if it is not due yet. False if there is none to cancel.
    public func cancel(_ id: UserID, by authority: some UserAuthority) async throws -> Bool {
        let now = clock.now
        return try await events.write(to: database, at: now, by: authority.actor) { db, announcement in
            try authority.confirm(in: db)
            guard try authority.covers(id, in: db), let due = try User.find(id, in: db)?.deletionDueAt, due > now else {
                return false
            }
            try announcement.watching(id, in: db) { try Self.restore(id, at: now, in: db) }
            return true
        }
    }

    private func mark(
        _ id: UserID, dueAt due: Timestamp, at now: Timestamp, in db: any Transaction,
        _ announcement: UserEvents.Announcement
    ) throws {
        try User.scheduleDeletion(of: id, at: due, in: db)
        try announcement.say(.accessRevoked(keeping: nil), id, db)
    }
}

/// What happens when a deletion is due.
extension UserDeletion {
    /// The result of one round.
    public struct Round: Sendable {
        public fileprivate(set) var gone = 0
        /// Whether there may be more.
        public fileprivate(set) var isBehind = false
        /// The users that could not be deleted yet, and why.
        public fileprivate(set) var failures: [(user: UserID, error: any Error)] = []
    }

    /// Deletes users whose deletion is due, at most `batch`, each in its own transactions. Any number of nodes may do
    /// so at once: each user is deleted once. A failure does not hold up the others.
    public func deleteDue(
        at now: Timestamp, batch: Int = 20, within budget: BulkErasure.Budget = .unlimited
    ) async throws -> Round {
        let due: [UserID] = try await database.read { db in
            try db.rows(
                "SELECT id FROM users WHERE deletion_due_at <= \(now) ORDER BY deletion_due_at LIMIT \(batch)"
            ).map { try $0.get("id") }
        }
        var round = Round()
        var budget = budget
        for user in due {
            do {
                if try await finish(user, at: now, &budget) { round.gone += 1 }
                guard !budget.isSpent else {
                    round.isBehind = true
                    return round
                }
            } catch {
                round.failures.append((user, error))
            }
        }
        round.isBehind = due.count >= batch && round.gone > 0
        return round
    }

    /// Deletes a user that is due, unless that takes more than `budget`. Returns whether this call did it.
    /// - Parameter actor: who deletes; nil for the user, or for the server when the time has come.
    func finish(
        _ id: UserID, at now: Timestamp, by actor: Actor? = nil, _ budget: inout BulkErasure.Budget
    ) async throws -> Bool {
        let isErased = try await erasure.user(id, &budget) { db in
            try User.find(id, in: db)?.deletionDueAt.map { $0 <= now } == true
        }
        guard isErased else { return false }
        return try await events.write(to: database, at: now, by: actor) { db, announcement in
            // Restored, or another node was faster, or this closure runs again after a COMMIT of unknown outcome.
            guard let due = try User.find(id, in: db)?.deletionDueAt, due <= now else { return false }
            // Before the row is deleted, because it leads to the clients that are told.
            try announcement.say(.deleted, id, db)
            // Rows with a foreign key are deleted with the user's. Tokens and codes without one keep a user id that no
            // longer exists, until they expire.
            return try User.delete(id, dueBy: now, in: db)
        }
    }
}

/// A user who signs in before the deletion is due may cancel it.
extension UserDeletion {
    public enum Decision: Sendable { case keep, leave }

    public enum Answer: Sendable, Equatable {
        case kept
        case leaving(Timestamp)
    }

    /// Applies the decision of a user who has just authenticated in this browser. A user who stays is signed in by
    /// `opening`.
    /// - Parameter isOpen: whether users can still sign in to all merchants with the issuer of this id.
    public func decide(
        _ decision: Decision, on id: Verification.ID, by attempt: VerificationAttempt, browser: Fingerprint<Browser>?,
        verifications: Verifications, opening: Session.Opening, replacing old: Session.ID?,
        isOpen: @escaping @Sendable (_ issuer: String, any Transaction) throws -> Bool
    ) async throws -> Result<Answer, Verification.Refusal> {
        let now = clock.now
        return try await events.write(to: database, at: now) { db, announcement in
            let taken = try verifications.take(
                id: id, purpose: .restore, browser: browser, attempt: attempt.id, in: db)
            let (user, offer): (UserID, Verification)
            switch taken {
            case .failure(let refusal): return .failure(refusal)
            case .success(let verification):
                guard let found = verification.user else { return .failure(.unknown) }
                (user, offer) = (found, verification)
            }
            // Disabling ends earlier offers, and there are no later ones, because a disabled user cannot sign in.
            guard try db.rows("SELECT id FROM users WHERE id = \(user) AND disabled_at IS NOT NULL").isEmpty else {
                return .failure(.gone(reason: "disabled_user"))
            }
            if decision == .keep, offer.wasTaken {
                return try offer.again(opening, replacing: old, at: now, in: db).map { _ in .kept }
            }
            if decision == .keep {
                // A session that rests on a deleted issuer would never be ended.
                if let issuer = offer.issuer, try !isOpen(issuer, db) {
                    return .failure(.gone(reason: "issuer_closed"))
                }
                try announcement.watching(user, in: db) { try Self.restore(user, at: now, in: db) }
            }
            let row = try db.rows("SELECT deletion_due_at FROM users WHERE id = \(user)").first
            guard let row else { return .failure(.gone(reason: "user_deleted")) }
            if let dueAt: Timestamp = try row.get("deletion_due_at") { return .success(.leaving(dueAt)) }
            // Cancelled in another browser meanwhile: a user who still wants to leave asks again.
            guard decision == .keep else { return .failure(.gone(reason: "kept_elsewhere")) }
            // One answer is enough. Another offer may rest on a sign-in method that the user removes now.
            try Verifications.endOffers(to: user, at: now, in: db)
            try Sessions.open(
                opening.by(offer.method ?? .mail, since: offer.createdAt).resting(on: offer.issuer), user: user,
                replacing: old, at: now, in: db, announcement)
            return .success(.kept)
        }
    }

    /// Cancels the deletion, if it is not due yet.
    static func restore(_ id: UserID, at now: Timestamp, in db: any Transaction) throws {
        try User.cancelDeletion(of: id, at: now, in: db)
    }
}
