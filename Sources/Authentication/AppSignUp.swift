import Audit
public import Cryptography
public import Directory
import JSON
public import Storage
public import Values

/// Sign-ups by an app. The user is created at once, because the app signs them in right afterwards. The address is
/// unverified until the user opens the link sent to it.
public struct AppSignUp: Sendable {
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

    /// A user who is not stored yet, and the link that is sent to their address.
    public struct Prepared: Sendable {
        public let user: User
        public let email: EmailAddress
        public let draft: Verifications.Draft
        let passwordHash: String?
    }

    /// Who signs up a user.
    public enum Sender: Sendable {
        /// A backend signs up all its users from one address, so the client is charged instead.
        case backend(Client)
        /// An app asks from the user's address, and so does anyone who extracted its secret.
        case address(String)

        public init(_ client: Client, from address: String) {
            self = client.may(.answerForItself) ? .backend(client) : .address(address)
        }

        /// Whose turn it is at hashing. All clients of a merchant share one, because it can make as many as it likes.
        fileprivate var turn: String {
            switch self {
            case .backend(let client): client.merchant?.text ?? client.id.text
            case .address(let address): HashingPool.sender(address)
            }
        }
    }

    public enum Outcome: Sendable, Equatable {
        case made
        /// Another user has the address.
        case taken
        /// The client signed up too many users recently.
        case wait(Duration)
    }

    /// Prepares a sign-up. Without a password, the link is one that sets the password. Throws `HashingPoolFull`.
    public func prepare(
        by sender: Sender, email: EmailAddress, password: Password?, profile: UserChanges, continueTo: String
    ) async throws -> Prepared {
        var hash: String?
        if let password {
            hash = try await hashing.hash(password.text, for: sender.turn, random: random).encoded
        }
        let now = clock.now
        let user = User(
            id: .random(from: random), email: email.text, emailVerified: false,
            profile: .object(profile.profile), createdAt: now, updatedAt: now, disabledAt: nil, deletionDueAt: nil)
        let draft = verifications.draft(
            password == nil ? .resetPassword : .confirmAddress, email: email.text, user: user.id, browser: nil,
            continueTo: continueTo)
        return Prepared(user: user, email: email, draft: draft, passwordHash: hash)
    }

    /// Charges `sender` for one sign-up before any work: a client and its merchant for all its clients, or an address.
    /// Returns how long to wait if there were too many.
    public func charge(_ sender: Sender) async throws -> Duration? {
        switch sender {
        case .address(let address): return try await verifications.charge(from: address)
        case .backend(let client):
            let now = clock.now
            return try await database.write { db in try Throttle.chargeSignUp(by: client, at: now, in: db) }
        }
    }

    /// Refunds that charge: no work was done for it.
    public func refund(_ sender: Sender) async throws {
        switch sender {
        case .address(let address): try await verifications.refund(to: address)
        case .backend(let client):
            try await database.write { db in try Throttle.refundSignUp(by: client, in: db) }
        }
    }

    /// Like `charge`, for one text message, counted for all clients of `merchant`.
    public func chargeText(by client: Client.ID, of merchant: Merchant.ID) async throws -> Duration? {
        let now = clock.now
        return try await database.write { db in try Throttle.chargeText(by: client, of: merchant, at: now, in: db) }
    }

    /// Whether a user has the address.
    public func isTaken(_ email: EmailAddress) async throws -> Bool {
        try await database.read { db in try Users.has(email, in: db) }
    }

    /// Stores the user, connected to `client`, with the terms that they `agreed` to (`UserEvent.signedUp`). `post`
    /// queues the mail in the transaction. A mailbox that got too many mails gets none: the user can request another
    /// later.
    public func finish(
        _ prepared: Prepared, at client: Client.ID, agreed: String, by authority: some Authority,
        post: @escaping @Sendable (any Transaction) throws -> Void
    ) async throws -> Outcome {
        let user = prepared.user
        do {
            return try await events.write(to: database, at: user.createdAt, by: authority.actor) {
                db, announcement in
                // A retry after a COMMIT of unknown outcome finds its own row.
                guard try db.rows("SELECT id FROM users WHERE id = \(user.id)").isEmpty else { return .made }
                guard try !Users.has(prepared.email, in: db) else { return .taken }
                try User.insert(user, passwordHash: prepared.passwordHash, in: db)
                try authority.confirm(in: db)
                try Connections.connect(user.id, to: client, at: user.createdAt, in: db)
                try announcement.say(.signedUp(agreed: agreed), user.id, db)
                let purpose = prepared.draft.verification.purpose
                guard try Throttle.chargeMailbox(prepared.email, for: purpose, user.createdAt, in: db) else {
                    return .made
                }
                try Verifications.store(prepared.draft, in: db)
                try post(db)
                return .made
            }
        } catch StorageError.conflict {
            // Another sign-up with the same address was faster.
            return .taken
        }
    }

    /// Marks the address as verified, by the link and the user's password, and signs in.
    ///
    /// The owner of an address that another user signed up with cannot be tricked into verifying it: they do not know
    /// the password.
    public func confirm(
        _ link: Secret<Verification>, by attempt: VerificationAttempt, proof: PasswordSignIn.Proof,
        opening: Session.Opening,
        replacing old: Session.ID?
    ) async throws -> Result<Verification, Verification.Refusal> {
        let now = clock.now
        return try await events.write(to: database, at: now) { [verifications] db, announcement in
            guard try proof.holds(in: db) else { return .failure(.gone(reason: "user_gone_or_changed")) }
            let taken = try verifications.take(link: link, .confirmAddress, attempt: attempt.id, in: db)
            guard case .success(let verification) = taken else { return taken }
            guard verification.user == proof.user else { return .failure(.gone(reason: "user_gone_or_changed")) }
            guard !verification.wasTaken else {
                return try verification.again(opening, replacing: old, at: now, in: db)
            }
            let isConfirmed = try announcement.watching(proof.user, in: db) {
                try KnownDevices.forgetUnproved(of: proof.user, in: db)
                return try User.verify(verification.email, of: proof.user, at: now, in: db)
            }
            guard isConfirmed else { return .failure(.gone(reason: "user_gone_or_changed")) }
            try Sessions.open(
                opening, user: proof.user, replacing: old, at: now, in: db,
                announcement)
            return taken
        }
    }
}
