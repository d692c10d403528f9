public import Directory
public import Storage
public import Values

/// The address of an account: shown to be read, or changed for one that is.
public struct AddressChange: Sendable {
    private let database: any Database
    private let verifications: Verifications
    private let clock: any WallClock
    private let news: UserEvents

    public init(database: any Database, verifications: Verifications, clock: any WallClock, news: UserEvents) {
        self.database = database
        self.verifications = verifications
        self.clock = clock
        self.news = news
    }

    /// Marks the address of the session's account as read by its person.
    public func verify(
        _ key: VerificationKey, session: Session, attempt: String
    ) async throws -> Result<Verification, Verification.Refusal> {
        let now = clock.now
        return try await finish(key, .verifyEmail, session, attempt, at: now) { verification, db in
            try User.verify(verification.email, of: session.user, at: now, in: db)
        }
    }

    /// Gives the session's account the new address. What was mailed to the old one is void. `post` joins the
    /// transaction. Throws `StorageError.conflict` when the address has an account by now.
    public func change(
        _ key: VerificationKey, session: Session, attempt: String,
        post: @escaping @Sendable (Verification, any Transaction) throws -> Void
    ) async throws -> Result<Verification, Verification.Refusal> {
        let now = clock.now
        return try await finish(key, .changeEmail, session, attempt, at: now) { verification, db in
            let isChanged = try User.setVerifiedEmail(verification.email, of: session.user, at: now, in: db)
            try Verifications.endAll(of: session.user, at: now, in: db)
            try post(verification, db)
            return isChanged
        }
    }

    private func finish(
        _ key: VerificationKey, _ purpose: Verification.Purpose, _ session: Session, _ attempt: String,
        at now: Timestamp, _ apply: @escaping @Sendable (Verification, any Transaction) throws -> Bool
    ) async throws -> Result<Verification, Verification.Refusal> {
        try await news.write(to: database, at: now) { [verifications] db, announcement in
            let taken = try verifications.take(key, purpose, attempt: attempt, in: db)
            guard case .success(let verification) = taken else { return taken }
            // The code was asked for by one person; another may be signed in to the browser by now.
            guard verification.user == session.user,
                try announcement.watching(session.user, in: db, { try apply(verification, db) })
            else {
                return .failure(.gone(reason: "account_gone_or_changed"))
            }
            return taken
        }
    }
}
