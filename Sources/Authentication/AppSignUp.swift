public import Cryptography
public import Directory
import JSON
public import Storage
public import Values

/// Somebody whom an app signs up, with an account at once: the app signs them in right afterwards. The address is not
/// known to be theirs before they open the link that goes there.
public struct AppSignUp: Sendable {
    private let database: any Database
    private let verifications: Verifications
    private let hashing: HashingPool
    private let clock: any WallClock
    private let random: any RandomSource
    private let news: UserEvents

    public init(
        database: any Database, verifications: Verifications, hashing: HashingPool, clock: any WallClock,
        random: any RandomSource, news: UserEvents
    ) {
        self.database = database
        self.verifications = verifications
        self.hashing = hashing
        self.clock = clock
        self.random = random
        self.news = news
    }

    /// An account that is not stored yet, and the link that goes to its address.
    public struct Prepared: Sendable {
        public let user: User
        public let email: EmailAddress
        public let draft: Verifications.Draft
        let passwordHash: String?
    }

    public enum Outcome: Sendable, Equatable {
        case made
        /// The address has an account.
        case taken
        /// The client has signed up too many of late.
        case wait(Duration)
    }

    /// Without a password the link is the one that sets it. Throws `HashingPoolFull`.
    public func prepare(
        email: EmailAddress, password: Password?, profile: UserChanges, continueTo: String
    ) async throws -> Prepared {
        var hash: String?
        if let password { hash = try await hashing.hash(password.text, random: random).encoded }
        let now = clock.now
        let user = User(
            id: .random(from: random), email: email.text, emailVerified: false,
            profile: .object(profile.profile), createdAt: now, updatedAt: now, disabledAt: nil, deletionDueAt: nil)
        let draft = verifications.draft(
            password == nil ? .resetPassword : .confirmAddress, email: email.text, user: user.id, browser: nil,
            continueTo: continueTo)
        return Prepared(user: user, email: email, draft: draft, passwordHash: hash)
    }

    /// Whether `client` may sign up one more, before work is done for it; else how long it has to wait.
    public func charge(_ client: Client.ID) async throws -> Duration? {
        let now = clock.now
        return try await database.write { db in try Throttle.chargeSignUp(by: client, at: now, in: db) }
    }

    /// Whether an address is an account's.
    public func isTaken(_ email: EmailAddress) async throws -> Bool {
        try await database.read { db in try Users.has(email, in: db) }
    }

    /// Stores the account. `also` joins the transaction, and so does `post`, which puts the mail into the post. A mailbox
    /// that has had enough gets none: its person can ask for another at any time.
    public func finish(
        _ prepared: Prepared, also: @escaping @Sendable (UserID, Timestamp, any Transaction) throws -> Void,
        post: @escaping @Sendable (any Transaction) throws -> Void
    ) async throws -> Outcome {
        let user = prepared.user
        do {
            return try await database.write { db in
                // A retry after a COMMIT of unknown outcome meets its own row.
                guard try db.rows("SELECT id FROM users WHERE id = \(user.id)").isEmpty else { return .made }
                guard try !Users.has(prepared.email, in: db) else { return .taken }
                try User.insert(user, passwordHash: prepared.passwordHash, in: db)
                try also(user.id, user.createdAt, db)
                let purpose = prepared.draft.verification.purpose
                guard try Throttle.chargeMailbox(prepared.email, for: purpose, at: user.createdAt, in: db) else {
                    return .made
                }
                try Verifications.store(prepared.draft, in: db)
                try post(db)
                return .made
            }
        } catch StorageError.conflict {
            // Two at once for one address: the other was quicker.
            return .taken
        }
    }

    /// Marks the address as read by its person, who knows the password too, and signs in.
    ///
    /// Whoever finds such a mail without having signed up cannot be made to give a stranger's account their address: they
    /// do not know the password.
    public func confirm(
        _ link: Secret<Verification>, by proof: SignIn.Proof, opening: Session.Opening, replacing old: Session.ID?
    ) async throws -> Result<Verification, Verification.Refusal> {
        let now = clock.now
        return try await news.write(to: database, at: now) { [verifications] db, announcement in
            guard try proof.holds(in: db) else { return .failure(.gone(reason: "account_gone_or_changed")) }
            let taken = try verifications.take(link: link, .confirmAddress, attempt: opening.id.text, in: db)
            guard case .success(let verification) = taken else { return taken }
            let isConfirmed = try announcement.watching(proof.user, in: db) {
                guard verification.user == proof.user else { return false }
                return try User.verify(verification.email, of: proof.user, at: now, in: db)
            }
            guard isConfirmed else { return .failure(.gone(reason: "account_gone_or_changed")) }
            try Sessions.open(
                opening, user: proof.user, signedInAt: now, replacing: old, at: now, in: db,
                announcement)
            return taken
        }
    }
}

extension Throttle {
    /// A backend signs up many people from one address: it is charged by its name.
    fileprivate static func chargeSignUp(
        by client: Client.ID, at now: Timestamp, in db: any Transaction
    ) throws -> Duration? {
        try take(Bucket("sign-ups by|\(client)", burst: 600, refill: .seconds(6)), at: now, in: db)
    }
}
