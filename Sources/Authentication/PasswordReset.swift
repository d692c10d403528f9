public import Cryptography
public import Directory
public import Storage
public import Values

/// Resets a forgotten password for a reader of the user's mail.
public struct PasswordReset: Sendable {
    private let database: any Database
    private let verifications: Verifications
    private let hashing: HashingPool
    private let clock: any WallClock
    private let random: any RandomSource
    private let events: UserEvents

    public init(
        database: any Database, verifications: Verifications, hashing: HashingPool, clock: any WallClock,
        random: any RandomSource, events: UserEvents
    ) {
        self.database = database
        self.verifications = verifications
        self.hashing = hashing
        self.clock = clock
        self.random = random
        self.events = events
    }

    /// The result of a link.
    public struct Outcome: Sendable {
        public let verification: Verification
        /// Whether the browser is signed in now.
        public let isSignedIn: Bool
    }

    /// Sets the password, ends every token, session and mailed link, and signs in here in place of `old`, unless the
    /// user is about to be deleted. `post` joins the transaction. The hash takes the turn of the requester's IP
    /// address, because anyone can have many links. Throws `HashingPoolFull`.
    public func finish(
        _ link: Secret<Verification>, by attempt: VerificationAttempt, password: Password, opening: Session.Opening,
        replacing old: Session.ID?, post: @escaping @Sendable (Verification, any Transaction) throws -> Void
    ) async throws -> Result<Outcome, Verification.Refusal> {
        // Hashes are expensive: nothing is hashed without a valid link.
        switch try await verifications.look(at: link, .resetPassword, by: attempt) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let found) where found.wasTaken:
            return try await again(found, password, opening, replacing: old)
        case .success: break
        }
        let set = try await set(password, link, attempt, opening, replacing: old, post: post)
        guard case .success(let outcome) = set, outcome.verification.wasTaken else { return set }
        return try await again(outcome.verification, password, opening, replacing: old)
    }

    private func set(
        _ password: Password, _ link: Secret<Verification>, _ attempt: VerificationAttempt, _ opening: Session.Opening,
        replacing old: Session.ID?, post: @escaping @Sendable (Verification, any Transaction) throws -> Void
    ) async throws -> Result<Outcome, Verification.Refusal> {
        let hash = try await hashing.hash(
            password.text, for: HashingPool.sender(opening.address), random: random
        ).encoded
        let now = clock.now
        return try await events.write(to: database, at: now) { [verifications] db, announcement in
            let taken = try verifications.take(
                link: link, .resetPassword, attempt: attempt.id, in: db)
            let verification: Verification
            switch taken {
            case .failure(let refusal): return .failure(refusal)
            case .success(let found): verification = found
            }
            guard !verification.wasTaken else {
                return .success(Outcome(verification: verification, isSignedIn: false))
            }
            let before = try UserSnapshot(of: verification.user, in: db)
            let isFirst = try verification.isFirstProof(in: db)
            guard let user = verification.user,
                // Reading the mail proves the address, if it is still the user's.
                try User.resetPassword(hash, of: user, reading: verification.email, at: now, in: db)
            else { return .failure(.gone(reason: "user_gone_or_changed")) }
            // First the end: sites are told only while they are connected to the user, which a takeover ends.
            try announcement.say(.accessRevoked(keeping: nil), user, db)
            if isFirst { try announcement.say(verification.takeover, user, db) }
            try announcement.sayWhatChanged(since: before, in: db)
            let isToBeDeleted = try db.rows(
                "SELECT id FROM users WHERE id = \(user) AND deletion_due_at IS NULL"
            ).isEmpty
            if !isToBeDeleted {
                try Sessions.open(
                    opening, user: user, replacing: old, at: now, in: db,
                    announcement)
            }
            try post(verification, db)
            return .success(Outcome(verification: verification, isSignedIn: !isToBeDeleted))
        }
    }

    /// The outcome when the form that set the password is sent again. With another password it is another form: it sets
    /// none, and must not claim to.
    private func again(
        _ verification: Verification, _ password: Password, _ opening: Session.Opening, replacing old: Session.ID?
    ) async throws -> Result<Outcome, Verification.Refusal> {
        let now = clock.now
        let found = try await database.read { db in
            try db.rows(
                "SELECT password_hash, deletion_due_at FROM users WHERE id = \(verification.user)"
            ).first.map { row in
                (
                    hash: try row.get("password_hash", as: String?.self).map { PasswordHash(encoded: $0) },
                    isToBeDeleted: try row.get("deletion_due_at", as: Timestamp?.self) != nil,
                    isSignedIn: try Sessions.isOpen(opening, beside: old, at: now, in: db)
                )
            }
        }
        guard let found, let hash = found.hash, found.isSignedIn || found.isToBeDeleted,
            // Even the right password costs a try, so that a used link cannot be used to guess passwords.
            try await database.write({ db in try Verifications.charge(verification.id, in: db) }),
            try await hashing.verify(password.text, against: hash, for: HashingPool.sender(opening.address))
        else { return .failure(.gone(reason: "outcome_over")) }
        return .success(Outcome(verification: verification, isSignedIn: found.isSignedIn))
    }
}
