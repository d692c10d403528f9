public import Cryptography
public import Directory
import JSON
public import Storage
public import Values

/// Signs up new users. No user exists until the address is verified: signing up with another user's address has no
/// effect, and leaves nothing behind that its owner could run into.
public struct SignUp: Sendable {
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

    /// A sign-up that has been charged and waits for its address to be verified, and whether that address is taken.
    public struct Prepared: Sendable {
        public let draft: Verifications.Draft
        public let isTaken: Bool
    }

    /// Does the work that is the same for a known and an unknown address. `agreed` is the note of the accepted terms.
    /// The IP address `address` is charged for the mail before the password is hashed, because all share the hashing
    /// pool. Throws `PasswordSignIn.Refusal`.
    public func prepare(
        email: EmailAddress, password: Password, name: String?, agreed: String, browser: Fingerprint<Browser>?,
        continueTo: String, from address: String
    ) async throws -> Prepared {
        let hash = try await chargedHash(of: password, from: address)
        let profile = JSON.object(name.map { [.init("name", .string($0))] } ?? [])
        let draft = verifications.draft(
            .signUp, email: email.text, browser: browser, continueTo: continueTo,
            newcomer: .init(passwordHash: hash, profile: profile.text, agreed: agreed))
        let isTaken = try await database.read { db in
            try !db.rows("SELECT id FROM users WHERE email = \(email)").isEmpty
        }
        return Prepared(draft: isTaken ? draft.blank : draft, isTaken: isTaken)
    }

    /// Charges one mail to `address` before the hash, because all share the hashing pool.
    private func chargedHash(of password: Password, from address: String) async throws -> String {
        if let wait = try await verifications.charge(from: address) { throw PasswordSignIn.Refusal.throttled(wait) }
        do {
            return try await hashing.hash(
                password.text, for: HashingPool.sender(address), random: random
            ).encoded
        } catch is HashingPoolFull {
            try await verifications.refund(to: address)
            throw PasswordSignIn.Refusal.overloaded
        }
    }

    /// Creates the user and signs in, in one transaction. Throws `StorageError.conflict` when the address has been
    /// taken meanwhile.
    public func finish(
        _ key: VerificationKey, by attempt: VerificationAttempt, opening: Session.Opening, replacing old: Session.ID?
    ) async throws -> Result<Verification, Verification.Refusal> {
        try await finish(key, by: attempt, as: nil, opening: opening, replacing: old)
    }

    /// As above, for a link opened in another browser than the one that signed up. Another user may have signed up
    /// there, so their password, name and consent to terms are dropped in favour of these. Throws
    /// `PasswordSignIn.Refusal` too: the hash is charged to the IP address, because a form can be sent many times.
    public func finish(
        _ link: Secret<Verification>, by attempt: VerificationAttempt, choosing password: Password, agreed: String,
        opening: Session.Opening, replacing old: Session.ID?
    ) async throws -> Result<Verification, Verification.Refusal> {
        let hash = try await chargedHash(of: password, from: opening.address)
        let reader = Verification.Newcomer(passwordHash: hash, profile: "{}", agreed: agreed)
        return try await finish(.link(link), by: attempt, as: reader, opening: opening, replacing: old)
    }

    private func finish(
        _ key: VerificationKey, by attempt: VerificationAttempt, as reader: Verification.Newcomer?,
        opening: Session.Opening, replacing old: Session.ID?
    ) async throws -> Result<Verification, Verification.Refusal> {
        let id = UserID.random(from: random)
        let now = clock.now
        return try await events.write(to: database, at: now) { [verifications] db, announcement in
            let taken = try verifications.take(key, .signUp, attempt: attempt.id, in: db)
            guard case .success(let verification) = taken else { return taken }
            guard !verification.wasTaken else {
                return try verification.again(opening, replacing: old, at: now, in: db)
            }
            guard let asker = verification.newcomer else { return .failure(.gone(reason: "sign_up_done")) }
            let newcomer = reader ?? asker
            let user = User(
                id: id, email: verification.email, emailVerified: true, profile: try JSON(stored: newcomer.profile),
                createdAt: now, updatedAt: now, disabledAt: nil, deletionDueAt: nil)
            try User.insert(user, passwordHash: newcomer.passwordHash, in: db)
            try announcement.say(.signedUp(agreed: newcomer.agreed), id, db)
            try db.execute(
                "UPDATE verifications SET password_hash = NULL, profile = \("{}") WHERE id = \(verification.id)")
            try Sessions.open(
                opening, user: id, replacing: old, at: now, in: db, announcement)
            try Logins.record(opening.login(.normal), of: id, succeeded: true, at: now, in: db)
            return taken
        }
    }
}
