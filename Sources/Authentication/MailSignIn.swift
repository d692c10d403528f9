public import Directory
public import Storage
public import Values

/// Signs in without a password, by a code sent to the user's address.
public struct MailSignIn: Sendable {
    private let database: any Database
    private let verifications: Verifications
    private let clock: any WallClock
    private let events: UserEvents

    public init(
        database: any Database, verifications: Verifications, clock: any WallClock,
        events: UserEvents
    ) {
        self.database = database
        self.verifications = verifications
        self.clock = clock
        self.events = events
    }

    /// The user of a correct code.
    struct Entry: Sendable {
        let verification: Verification
        let user: UserID
        /// Set when the user has asked for deletion. Then no session was opened.
        let leaving: LeavingUser?
    }

    /// What followed a correct code.
    public enum Outcome: Sendable {
        case signedIn
        /// The user has asked for deletion, and was offered to keep the account.
        case offered(Verification.ID, LeavingUser)
    }

    /// The user whom a code for `email` would sign in, if there is one.
    public func user(of email: EmailAddress) async throws -> UserID? {
        try await database.read { db in
            try db.rows("SELECT id FROM users WHERE email = \(email) AND disabled_at IS NULL").first?.get("id")
        }
    }

    /// Opens a session, by the secret of `attempt`, for the user of the code.
    public func finish(
        _ key: VerificationKey, by attempt: VerificationAttempt, opening: Session.Opening, replacing old: Session.ID?
    ) async throws -> Result<Outcome, Verification.Refusal> {
        let now = clock.now
        let place = KnownDevices.Place(address: opening.address, device: opening.device)
        return try await events.write(to: database, at: now) { [verifications] db, announcement in
            let entry: Entry
            switch try take(key, at: place, attempt: attempt.id, now, in: db, announcement) {
            case .failure(let refusal): return .failure(refusal)
            case .success(let taken): entry = taken
            }
            guard !entry.verification.wasTaken else {
                if let leaving = entry.leaving, try verifications.isOffered(attempt, in: db) {
                    return .success(.offered(attempt.offer, leaving))
                }
                return try entry.verification.again(opening, replacing: old, at: now, in: db).map { _ in .signedIn }
            }
            if let leaving = entry.leaving {
                let offer = try verifications.offerToRestore(leaving, after: entry.verification, attempt, in: db)
                return .success(.offered(offer, leaving))
            }
            try Sessions.open(
                opening, user: entry.user, replacing: old, at: now, in: db, announcement)
            return .success(.signedIn)
        }
    }

    /// The proof that a code sent to a user was read.
    public struct Proof: Sendable {
        public let user: UserID
        public let method: SignIn.Method
        /// Whether the user's e-mail address is verified.
        public let isVerified: Bool
        /// The password hash stored at that time, if there was one.
        let hash: String?
        /// Where the code was sent: a phone or a mailbox.
        let phone: PhoneNumber?
        let email: String?

        /// Whether the user may sign in, and still has that password and that number or address: a change of either
        /// voids the proof. Must run in the transaction that uses the proof.
        public func holds(in db: any Transaction) throws -> Bool {
            try !db.rows(
                """
                SELECT id FROM users
                WHERE id = \(user) AND COALESCE(password_hash, '') = \(hash ?? "") AND disabled_at IS NULL
                    AND deletion_due_at IS NULL
                """
            ).isEmpty && (phone.map { try User.find($0, in: db)?.id == user } ?? true)
                && (email.map { try User.find(user, in: db)?.email == $0 } ?? true)
        }
    }

    /// Takes a code that was typed in an app, without a session. The address becomes known, as after a password, so
    /// that wrong codes from elsewhere do not lock the user out there.
    func prove(
        _ key: VerificationKey, by client: Client, login: Login.Attempt
    ) async throws -> Result<Proof, Verification.Refusal> {
        let now = clock.now
        let place = KnownDevices.Place(address: login.address, device: nil)
        return try await events.write(to: database, at: now) { db, announcement in
            switch try take(key, at: place, by: client, attempt: login.id.text, now, in: db, announcement) {
            case .failure(let refusal): return .failure(refusal)
            case .success(let entry):
                guard entry.leaving == nil else { return .failure(.gone(reason: "deletion_pending")) }
                try Logins.record(login, of: entry.user, succeeded: true, at: now, in: db)
                try KnownDevices.remember(place, of: entry.user, at: now, in: db)
                let row = try db.rows("SELECT password_hash FROM users WHERE id = \(entry.user)").first
                return .success(
                    Proof(
                        user: entry.user, method: .mail, isVerified: true,
                        hash: try row?.get("password_hash", as: String?.self), phone: nil,
                        email: entry.verification.email))
            }
        }
    }

    private func take(
        _ key: VerificationKey, at place: KnownDevices.Place, by client: Client? = nil, attempt: String,
        _ now: Timestamp, in db: any Transaction, _ announcement: UserEvents.Announcement
    ) throws -> Result<Entry, Verification.Refusal> {
        let verification: Verification
        switch try verifications.takeSignIn(key, at: place, by: client, attempt: attempt, in: db) {
        case .success(let taken): verification = taken
        case .failure(let refusal): return .failure(refusal)
        }
        if verification.wasTaken, let user = verification.user {
            return .success(Entry(verification: verification, user: user, leaving: try LeavingUser(user, in: db)))
        }
        let before = try UserSnapshot(of: verification.user, in: db)
        let isFirst = try verification.isFirstProof(in: db)
        guard let user = verification.user,
            // The code proves the address, if it is still the user's.
            try User.verifyLive(verification.email, of: user, in: db)
        else { return .failure(.gone(reason: "user_gone_or_changed")) }
        if isFirst {
            // Until now another user may have entered this address, and may know the password.
            try User.setPasswordHash(nil, of: user, at: now, in: db)
            // First the end: sites are told only while they are connected to the user, which a takeover ends.
            try announcement.say(.accessRevoked(keeping: nil), user, db)
            try announcement.say(verification.takeover, user, db)
        }
        try announcement.sayWhatChanged(since: before, in: db)
        return .success(Entry(verification: verification, user: user, leaving: try LeavingUser(user, in: db)))
    }
}
