public import Cryptography
public import Storage
public import Values

/// A forgotten password: who reads the account's mail may set a new one.
public struct PasswordReset: Sendable {
    private let database: any Database
    private let verifications: Verifications
    private let hashing: HashingPool
    private let clock: any WallClock
    private let random: any RandomSource
    private let endAccess: Accounts.EndAccess

    public init(
        database: any Database, verifications: Verifications, hashing: HashingPool, clock: any WallClock,
        random: any RandomSource, endAccess: @escaping Accounts.EndAccess
    ) {
        self.database = database
        self.verifications = verifications
        self.hashing = hashing
        self.clock = clock
        self.random = random
        self.endAccess = endAccess
    }

    /// Sets the password, ends every token, session and mail that is out, and signs in here; but not an account that is
    /// about to be deleted. `post` joins the transaction. Throws `HashingPoolFull`.
    public func finish(
        _ link: Secret<Verification>, password: Password, opening: Session.Opening,
        post: @escaping @Sendable (Verification, any Transaction) throws -> Void
    ) async throws -> Result<Verification, Verification.Refusal> {
        let hash = try await hashing.hash(password.text, random: random).encoded
        let now = clock.now
        return try await database.write { [verifications, endAccess] db in
            let taken = try verifications.take(
                link: link, .resetPassword, attempt: opening.id.text, in: db)
            guard case .success(let verification) = taken else { return taken }
            guard let account = verification.account,
                // Reading the mail showed the address, if it still is the account's.
                try db.execute(
                    """
                    UPDATE accounts SET password_hash = \(hash), email_verified = 1, updated_at = \(now)
                    WHERE id = \(account) AND email = \(verification.email) AND disabled_at IS NULL
                    """) == 1
            else { return .failure(.gone(reason: "account_gone_or_changed")) }
            try endAccess(account, now, db)
            try Sessions.endAll(of: account, at: now, in: db)
            try Verifications.endAll(of: account, at: now, in: db)
            try Sessions.open(
                opening, account: account, signedInAt: now, permission: nil, replacing: nil, at: now, in: db)
            try post(verification, db)
            return taken
        }
    }
}
