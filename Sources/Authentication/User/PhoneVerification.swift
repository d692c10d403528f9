public import Audit
public import Directory
public import Storage
import Values

/// The phone number at which a signed-in user reads text messages.
public struct PhoneVerification: Sendable {
    private let database: any Database
    private let verifications: Verifications
    private let clock: any WallClock
    private let events: UserEvents

    init(database: any Database, verifications: Verifications, clock: any WallClock, events: UserEvents) {
        self.database = database
        self.verifications = verifications
        self.clock = clock
        self.events = events
    }

    /// Takes the code and verifies its number for the user. Codes sent to a former number become void, and sessions
    /// they opened end, except `session`. `post` joins the transaction. Throws `StorageError.conflict` when another
    /// user has the number: only a reader of its messages learns that.
    public func finish(
        _ key: VerificationKey, by attempt: VerificationAttempt, session: Session,
        post: @escaping @Sendable (PhoneNumber, any Transaction) throws -> Void
    ) async throws -> Result<Verification, Verification.Refusal> {
        let now = clock.now
        return try await events.write(to: database, at: now) { [verifications] db, announcement in
            let taken = try verifications.takeCounted(key, .verifyPhone, by: session.user, attempt: attempt.id, in: db)
            guard case .success(let verification) = taken else { return taken }
            let former = try User.find(session.user, in: db)?.verifiedPhone
            guard let phone = verification.phone, verification.user == session.user,
                try session.isLiveSignIn(in: db),
                try announcement.watching(
                    session.user, in: db,
                    {
                        guard !verification.wasTaken else { return former == phone }
                        return try User.verify(phone, of: session.user, at: now, in: db)
                    })
            else { return .failure(.gone(reason: "user_gone_or_changed")) }
            guard !verification.wasTaken else { return taken }
            try Verifications.endTexts(of: session.user, at: now, in: db)
            // Without a former number, no session was opened by its codes.
            if let former, former != phone {
                try announcement.say(.methodRevoked(.text, keeping: session.id), session.user, db)
            }
            try post(phone, db)
            return taken
        }
    }

    /// Removes the number: no code goes there any more, and another user may have it. What its codes opened ends,
    /// except `session`. Throws `PasswordSignIn.Refusal.throttled` after many removals, because each goes through
    /// everything that the user has.
    public func remove(of session: Session) async throws {
        let now = clock.now
        try await events.write(to: database, at: now) { db, announcement in
            guard try session.isLiveSignIn(in: db) else { return }
            try Verifications.endTexts(of: session.user, at: now, in: db)
            // Without a number, what its codes opened has already ended.
            guard try User.find(session.user, in: db)?.verifiedPhone != nil else { return }
            try RevocationThrottle.charge(session.user, at: now, in: db)
            try announcement.watching(session.user, in: db) {
                try User.forgetPhone(of: session.user, at: now, in: db)
            }
            try announcement.say(.methodRevoked(.text, keeping: session.id), session.user, db)
        }
    }

    /// A user who signed up with another user's address may have left their own number.
    public static let subscriber = UserEvents.Subscriber(
        "PhoneVerification",
        [
            .on(.takenOver, "removes the verified phone number") { _, user, announcement, db in
                try User.forgetPhone(of: user, at: announcement.now, in: db)
            }
        ])
}

/// The signed-in user of a session, who has a code sent.
public struct SignedInUser: Authority {
    private let session: Session

    public init(of session: Session) { self.session = session }

    public var actor: Actor { Actor(.user(session.user)) }

    public func confirm(in db: any Transaction) throws {
        guard try session.isLiveSignIn(in: db) else {
            throw PasswordSignIn.Refusal.wrong(reason: "session_ended_meanwhile")
        }
    }
}

extension Verifications {
    /// Ends a user's codes that were sent by text message.
    fileprivate static func endTexts(of user: UserID, at now: Timestamp, in db: any Transaction) throws {
        try db.execute(
            """
            UPDATE verifications SET spent_at = \(now)
            WHERE user_id = \(user) AND phone IS NOT NULL AND spent_at IS NULL
            """)
    }
}
