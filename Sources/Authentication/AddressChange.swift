public import Directory
public import Storage
public import Values

/// Verifies or changes the e-mail address of a signed-in user.
public struct AddressChange: Sendable {
    private let database: any Database
    private let verifications: Verifications
    private let clock: any WallClock
    private let events: UserEvents

    public init(database: any Database, verifications: Verifications, clock: any WallClock, events: UserEvents) {
        self.database = database
        self.verifications = verifications
        self.clock = clock
        self.events = events
    }

    /// Marks the address of the session's user as verified, at `place`.
    public func verify(
        _ key: VerificationKey, by attempt: VerificationAttempt, session: Session, at place: KnownDevices.Place
    ) async throws -> Result<Verification, Verification.Refusal> {
        let now = clock.now
        return try await finish(key, .verifyEmail, session, place, attempt.id, at: now) { verification, db, _ in
            try User.verify(verification.email, of: session.user, at: now, in: db)
        }
    }

    /// Gives the session's user the new address. Codes and links mailed to the old one become void, and sessions they
    /// opened end, except `session`. `post` joins the transaction. Throws `StorageError.conflict` when another user has
    /// taken the address.
    public func change(
        _ key: VerificationKey, by attempt: VerificationAttempt, session: Session, at place: KnownDevices.Place,
        post: @escaping @Sendable (Verification, any Transaction) throws -> Void
    ) async throws -> Result<Verification, Verification.Refusal> {
        let now = clock.now
        return try await finish(key, .changeEmail, session, place, attempt.id, at: now) {
            verification, db, announcement in
            let former = try User.find(session.user, in: db)?.email
            let isChanged = try User.setVerifiedEmail(verification.email, of: session.user, at: now, in: db)
            try Verifications.endAll(of: session.user, at: now, in: db)
            // A user who enters their current address only verifies it.
            if former != verification.email {
                try announcement.say(.methodRevoked(.mail, keeping: session.id), session.user, db)
                try post(verification, db)
            }
            return isChanged
        }
    }

    /// The first proof of an address forgets all places where its user signed in but `place`: another user may have
    /// signed in there.
    private func finish(
        _ key: VerificationKey, _ purpose: Verification.Purpose, _ session: Session, _ place: KnownDevices.Place,
        _ attempt: String, at now: Timestamp,
        _ apply: @escaping @Sendable (Verification, any Transaction, UserEvents.Announcement) throws -> Bool
    ) async throws -> Result<Verification, Verification.Refusal> {
        try await events.write(to: database, at: now) { [verifications] db, announcement in
            // By now another user, or none, may be signed in to the browser that asked for the code.
            let taken = try verifications.takeCounted(key, purpose, by: session.user, attempt: attempt, in: db)
            guard case .success(let verification) = taken else { return taken }
            guard verification.user == session.user, try session.isLiveSignIn(in: db),
                try announcement.watching(
                    session.user, in: db,
                    {
                        guard !verification.wasTaken else {
                            let user = try User.find(session.user, in: db)
                            return user?.emailVerified == true && user?.email == verification.email
                        }
                        let isFirst = try KnownDevices.forgetUnproved(of: session.user, in: db)
                        guard try apply(verification, db, announcement) else { return false }
                        if isFirst { try KnownDevices.remember(place, of: session.user, at: now, in: db) }
                        return true
                    })
            else {
                return .failure(.gone(reason: "user_gone_or_changed"))
            }
            return taken
        }
    }
}
