public import Storage
public import Values

/// Sign-in without a password, by a code that went to the account's address.
public struct MailSignIn: Sendable {
    private let database: any Database
    private let verifications: Verifications
    private let clock: any WallClock
    private let endAccess: Users.EndAccess
    private let unlink: Users.EndAccess
    private let news: UserEvents

    /// `unlink` takes away the names by which issuers know the person.
    public init(
        database: any Database, verifications: Verifications, clock: any WallClock,
        endAccess: @escaping Users.EndAccess, unlink: @escaping Users.EndAccess,
        news: UserEvents
    ) {
        self.database = database
        self.verifications = verifications
        self.clock = clock
        self.endAccess = endAccess
        self.unlink = unlink
        self.news = news
    }

    /// Whom a right code belongs to.
    public struct Entry: Sendable {
        public let verification: Verification
        public let account: UserID
        /// When the account will be deleted, if its person asked for that: then no session was opened.
        public let deletionDueAt: Timestamp?
    }

    /// The account that a code for `email` would sign in, if there is one.
    public func account(of email: EmailAddress) async throws -> UserID? {
        try await database.read { db in
            try db.rows("SELECT id FROM accounts WHERE email = \(email) AND disabled_at IS NULL").first?.get("id")
        }
    }

    public func finish(
        _ key: VerificationKey, opening: Session.Opening, replacing old: Session.ID?
    ) async throws -> Result<Entry, Verification.Refusal> {
        let now = clock.now
        return try await news.write(to: database, at: now) { [verifications, endAccess, unlink] db, announcement in
            let place = KnownDevices.Place(address: opening.address, device: opening.device)
            let verification: Verification
            switch try verifications.takeSignIn(key, at: place, attempt: opening.id.text, in: db) {
            case .success(let taken): verification = taken
            case .failure(let refusal): return .failure(refusal)
            }
            let before = try UserSnapshot(of: verification.account, in: db)
            let isFirst = try verification.isFirstWord(in: db)
            guard let account = verification.account,
                // The person reads the address; if it still is the account's.
                try db.execute(
                    """
                    UPDATE accounts SET email_verified = 1
                    WHERE id = \(account) AND email = \(verification.email) AND disabled_at IS NULL
                    """) == 1
            else { return .failure(.gone(reason: "account_gone_or_changed")) }
            if isFirst {
                // Until now the account may have been somebody else's who gave this address, and knows its password.
                try db.execute("UPDATE accounts SET password_hash = NULL, updated_at = \(now) WHERE id = \(account)")
                try announcement.say(verification.takeover, account, db)
                try Sessions.endAll(of: account, at: now, in: db, announcement)
                try endAccess(account, now, db)
                try unlink(account, now, db)
                try Verifications.endAll(of: account, at: now, in: db)
            }
            try announcement.sayWhatChanged(since: before, in: db)
            let dueAt: Timestamp? = try db.rows(
                "SELECT deletion_due_at FROM accounts WHERE id = \(account)"
            ).first?.get("deletion_due_at")
            if dueAt == nil {
                try Sessions.open(
                    opening, account: account, signedInAt: now, permission: nil, replacing: old, at: now, in: db,
                    announcement)
            }
            return .success(Entry(verification: verification, account: account, deletionDueAt: dueAt))
        }
    }
}
