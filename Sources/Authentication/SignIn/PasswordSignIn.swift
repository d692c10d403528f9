public import Audit
public import Cryptography
public import Directory
public import Storage
public import Values

/// Authenticates users by e-mail address and password.
public struct PasswordSignIn: Sendable {
    public enum Refusal: Error, Sendable {
        /// Unknown address, wrong password, no password or a disabled user: the reason is for the log only, and the
        /// user, if there is one.
        case wrong(reason: String, user: UserID? = nil)
        /// How long to wait; for the log the limit that is reached, and the user.
        case throttled(Duration, bucket: String? = nil, user: UserID? = nil)
        case overloaded
    }

    private let database: any Database
    private let hashing: HashingPool
    private let clock: any WallClock
    private let random: any RandomSource
    private let audit: AuditLog

    public init(
        database: any Database, hashing: HashingPool, clock: any WallClock, random: any RandomSource, audit: AuditLog
    ) {
        self.audit = audit
        self.database = database
        self.hashing = hashing
        self.clock = clock
        self.random = random
    }

    /// The proof that a user's password was known at the time it was checked.
    public struct Proof: Sendable {
        public let user: UserID
        /// The stored hash after the check.
        let hash: String
        /// Set when the user asked for deletion, which they can then only cancel.
        public let leaving: LeavingUser?
        /// Whether the user's address is verified.
        public let isVerified: Bool

        /// Whether the password is still current and the user may sign in. Must run in the transaction that uses the
        /// proof: a new password or disabling ends everything, and a request in progress must not outrun it.
        public func holds(in db: any Transaction) throws -> Bool {
            try !db.rows(
                """
                SELECT id FROM users
                WHERE id = \(user) AND password_hash = \(hash) AND disabled_at IS NULL
                    AND deletion_due_at IS NULL
                """
            ).isEmpty
        }
    }

    /// Proves that `password` is the password of `username`. An unknown address takes as long as a wrong password.
    ///
    /// `login` is stored as a failure before the password is checked, together with the throttle's charge. Neither a
    /// crash nor a closed connection hides it, and a known address costs no additional commit.
    ///
    /// A flood is refused before it reaches the database, where it would slow all other requests.
    /// - Parameter client: the client that authenticated, and may forward its users' sign-ins from its own address.
    public func check(
        username: String, password: String, address: String, device: Secret<Device>? = nil,
        login: Login.Attempt? = nil, client: Client? = nil
    ) async throws -> Proof {
        do {
            return try await hashing.admit(HashingPool.sender(address)) {
                try await judge(
                    username: username, password: password, address: address, device: device, login: login,
                    client: client)
            }
        } catch is HashingPoolFull {
            throw Refusal.overloaded
        } catch let refusal as Refusal {
            try await note(refusal, at: login?.client ?? client?.id, from: address)
            throw refusal
        }
    }

    /// A refused sign-in is an event. That of an unknown user is noted like any other, and takes as long.
    private func note(_ refusal: Refusal, at client: Client.ID?, from address: String) async throws {
        let known: UserID?
        switch refusal {
        case .wrong(_, let user), .throttled(_, _, let user): known = user
        case .overloaded: return
        }
        let merchant = try await database.read { db in
            try Connections.merchant(of: client, knowing: known, in: db)
        }
        switch refusal {
        case .wrong(let reason, let user):
            audit.note(
                .init(
                    "sign_in.refused", on: user.map(Party.user), merchant: merchant?.text, client: client?.text,
                    reason: reason, address: address))
        case .throttled(_, let bucket, let user):
            audit.note(
                .init(
                    "throttle.began", on: user.map(Party.user), merchant: merchant?.text, client: client?.text,
                    reason: "sign_in_throttled", detail: bucket, address: address))
        case .overloaded: break
        }
    }

    private func judge(
        username: String, password: String, address: String, device: Secret<Device>?, login: Login.Attempt?,
        client: Client?
    ) async throws -> Proof {
        let email = EmailAddress(username)
        let place = KnownDevices.Place(address: address, device: device)
        let found = try await find(email, place)
        let attempt = Throttle.Attempt(
            user: email?.text ?? username, address: address, known: found?.known,
            intermediary: client.flatMap(Intermediary.init))
        let chargedAt = clock.now
        let outcome = try await database.write { db in
            let outcome = try Throttle.charge(attempt, at: chargedAt, in: db)
            if case .charged = outcome, let login, let found {
                try Logins.record(login, of: found.id, succeeded: false, at: chargedAt, in: db)
            }
            return outcome
        }
        let charge: Throttle.Charge
        switch outcome {
        case .charged(let taken): charge = taken
        case .wait(let wait, let bucket): throw Refusal.throttled(wait, bucket: bucket.kind, user: found?.id)
        }

        let isRight: Bool
        do {
            let standIn = found?.hash == nil ? try await standIn(for: email) : nil
            isRight = try await hashing.verify(
                password, against: found?.hash, for: HashingPool.sender(address), standIn: standIn)
        } catch let full as HashingPoolFull {
            try await forget(charge, login)
            throw full
        } catch is PasswordTooLong {
            // No stored password is that long, so this reveals nothing about any user.
            throw Refusal.wrong(reason: "password_too_long", user: found?.id)
        }
        guard let found else { throw Refusal.wrong(reason: "unknown_user") }
        guard isRight else { throw Refusal.wrong(reason: "wrong_password", user: found.id) }
        guard !found.isDisabled, let hash = found.hash else {
            throw Refusal.wrong(reason: "disabled_user", user: found.id)
        }
        return try await welcome(found, hash, charge, place, login, password: password)
    }

    /// Clears the failures, stores the device and address as known, and upgrades a hash with weaker parameters.
    private func welcome(
        _ found: Found, _ oldHash: PasswordHash, _ charge: Throttle.Charge, _ place: KnownDevices.Place,
        _ login: Login.Attempt?, password: String, isAgain: Bool = false
    ) async throws -> Proof {
        let now = clock.now
        var upgraded: String?
        let isOld = oldHash.needsUpgrade(to: hashing.parameters)
        if isOld {
            // If it fails now, the next sign-in tries again.
            upgraded = try? await hashing.hash(
                password, for: HashingPool.sender(place.address), random: random
            ).encoded
        }
        let newHash = upgraded
        let proof = try await database.write { db -> Proof? in
            // The password may have been changed while it was hashed, because it leaked. A user of the old one must not
            // become a known device, nor have their guesses cleared.
            let row = try db.rows(
                """
                SELECT id FROM users
                WHERE id = \(found.id) AND password_hash IN (\(oldHash.encoded), \(newHash ?? oldHash.encoded))
                    AND disabled_at IS NULL
                """
            ).first
            guard row != nil else { return nil }
            try Throttle.refund(charge, succeeded: true, in: db)
            try KnownDevices.remember(place, of: found.id, at: now, in: db)
            if let login { try Logins.succeed(login, of: found.id, at: now, in: db) }
            if let newHash {
                try User.rehash(found.id, from: oldHash.encoded, to: newHash, in: db)
            }
            return Proof(
                user: found.id, hash: newHash ?? oldHash.encoded,
                leaving: found.isLeaving ? try LeavingUser(found.id, in: db) : nil, isVerified: found.isVerified)
        }
        if let proof { return proof }
        // Of two simultaneous first sign-ins with an older hash, one upgrades it first.
        guard !isAgain, isOld, let current = try await hash(of: found.id) else {
            throw Refusal.wrong(reason: "password_changed_meanwhile", user: found.id)
        }
        do {
            let sender = HashingPool.sender(place.address)
            guard try await hashing.verify(password, against: current, for: sender, standIn: nil) else {
                throw Refusal.wrong(reason: "password_changed_meanwhile", user: found.id)
            }
        } catch let full as HashingPoolFull {
            try await forget(charge, login)
            throw full
        }
        return try await welcome(found, current, charge, place, login, password: password, isAgain: true)
    }

    /// Refunds an attempt that was not checked.
    private func forget(_ charge: Throttle.Charge, _ login: Login.Attempt?) async throws {
        try await database.write { db in
            try Throttle.refund(charge, succeeded: false, in: db)
            if let login { try Logins.forget(login, in: db) }
        }
    }

    private func hash(of user: UserID) async throws -> PasswordHash? {
        try await database.read { db in
            try db.rows("SELECT password_hash FROM users WHERE id = \(user)").first?
                .get("password_hash", as: String?.self).map { PasswordHash(encoded: $0) }
        }
    }

    private struct Found: Sendable {
        let id: UserID
        let hash: PasswordHash?
        let isDisabled: Bool
        let isVerified: Bool
        let isLeaving: Bool
        let known: Throttle.Attempt.Known?
    }

    private func find(_ email: EmailAddress?, _ place: KnownDevices.Place) async throws -> Found? {
        guard let email else { return nil }
        return try await database.read { db in
            try db.rows(
                """
                SELECT id, email_verified, password_hash, disabled_at, deletion_due_at FROM users WHERE email = \(email)
                """
            ).first.map { row in
                let id: UserID = try row.get("id")
                return Found(
                    id: id,
                    hash: try row.get("password_hash", as: String?.self).map { PasswordHash(encoded: $0) },
                    isDisabled: try row.get("disabled_at", as: Timestamp?.self) != nil,
                    isVerified: try row.get("email_verified"),
                    isLeaving: try row.get("deletion_due_at", as: Timestamp?.self) != nil,
                    known: try Self.known(place, of: id, in: db))
            }
        }
    }

    /// The hash of another user, always the same one for an address. It is verified when there is no hash, so that an
    /// unknown address takes as long as known ones, even those with hashes from other systems.
    private func standIn(for email: EmailAddress?) async throws -> PasswordHash? {
        guard let email else { return nil }
        let place = Digest.sha256(email.text.utf8).prefix(6).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return try await database.read { db in
            try db.rows(
                """
                SELECT password_hash FROM users WHERE id >= \(place * 32) AND password_hash IS NOT NULL
                ORDER BY id LIMIT 1
                """
            ).first.map { PasswordHash(encoded: try $0.get("password_hash")) }
        }
    }

    private static func known(
        _ place: KnownDevices.Place, of user: UserID, in db: any Transaction
    ) throws -> Throttle.Attempt.Known? {
        if let mark = place.deviceMark, try KnownDevices.knows(mark, of: user, in: db) { return .device(mark) }
        return try KnownDevices.knows(place.addressMark, of: user, in: db) ? .address : nil
    }
}

extension PasswordSignIn {
    /// Proves that the user of the session knows its password. Asked before actions that an unattended screen must not
    /// allow. Throttled like any sign-in.
    public func confirm(
        _ session: Session, password: String, address: String, device: Secret<Device>? = nil
    ) async throws -> Proof {
        guard let email = session.email else { throw Refusal.wrong(reason: "no_password", user: session.user) }
        let proof = try await check(username: email, password: password, address: address, device: device)
        guard proof.user == session.user else {
            throw Refusal.wrong(reason: "password_of_another_user", user: session.user)
        }
        return proof
    }
}
