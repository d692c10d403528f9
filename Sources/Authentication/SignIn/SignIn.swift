public import Cryptography
public import Directory
public import Storage
public import Values

/// Decides whether somebody is who they say, by e-mail address and password.
public struct SignIn: Sendable {
    public enum Refusal: Error, Sendable {
        /// Unknown address, wrong password, no password or a disabled account: the reason is for the log only.
        case wrong(reason: String)
        case throttled(Duration)
        case overloaded
    }

    private let database: any Database
    private let hashing: HashingPool
    private let clock: any WallClock
    private let random: any RandomSource

    public init(database: any Database, hashing: HashingPool, clock: any WallClock, random: any RandomSource) {
        self.database = database
        self.hashing = hashing
        self.clock = clock
        self.random = random
    }

    /// That somebody knew an account's password, at the time it was looked at.
    public struct Proof: Sendable {
        public let user: UserID
        /// The hash that stood there afterwards.
        let hash: String
        /// When the account will be deleted, if its person asked for that: until then, nothing but a change of mind.
        public let deletionDueAt: Timestamp?
        /// Whether the address is known to be read by its person.
        public let isVerified: Bool

        /// Whether it still is the password, of an account that may sign in. Asked in the transaction that makes use of
        /// the proof: a new password or a disabling ends all there is, and must not be outrun by what was in flight.
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

    /// The proof that `password` is the password of `username`. An unknown address costs as much as a wrong password.
    ///
    /// `login` is how the try is remembered. It is so as a failure before the password is looked at, with what the throttle
    /// charges: neither a crash nor who hangs up hides it, and it is no commit that only a known address costs.
    ///
    /// A flood is turned away before it reaches the database, where it would stand in everybody's way.
    public func check(
        username: String, password: String, address: String, device: Secret<Device>? = nil,
        login: Login.Attempt? = nil
    ) async throws -> Proof {
        do {
            return try await hashing.admit {
                try await judge(
                    username: username, password: password, address: address, device: device, login: login)
            }
        } catch is HashingPoolFull {
            throw Refusal.overloaded
        }
    }

    private func judge(
        username: String, password: String, address: String, device: Secret<Device>?, login: Login.Attempt?
    ) async throws -> Proof {
        let email = EmailAddress(username)
        let place = KnownDevices.Place(address: address, device: device)
        let found = try await find(email, place)
        let attempt = Throttle.Attempt(user: email?.text ?? username, address: address, known: found?.known)
        let chargedAt = clock.now
        let wait = try await database.write { db -> Duration? in
            if let wait = try Throttle.charge(attempt, at: chargedAt, in: db) { return wait }
            if let login, let found {
                try Logins.record(login, of: found.id, succeeded: false, at: chargedAt, in: db)
            }
            return nil
        }
        if let wait { throw Refusal.throttled(wait) }

        let isRight: Bool
        do {
            let standIn = found?.hash == nil ? try await standIn(for: email) : nil
            isRight = try await hashing.verify(password, against: found?.hash, standIn: standIn)
        } catch let full as HashingPoolFull {
            try await database.write { db in
                try Throttle.refund(attempt, succeeded: false, in: db)
                if let login { try Logins.forget(login, in: db) }
            }
            throw full
        } catch is PasswordTooLong {
            // Nobody's password is that long, so this tells nothing about anybody.
            throw Refusal.wrong(reason: "password_too_long")
        }
        guard let found else { throw Refusal.wrong(reason: "unknown_user") }
        guard isRight else { throw Refusal.wrong(reason: "wrong_password") }
        guard !found.isDisabled, let hash = found.hash else { throw Refusal.wrong(reason: "disabled_user") }
        let upgraded = try await welcome(found, hash, attempt, place, login, password: password)
        return Proof(
            user: found.id, hash: upgraded ?? hash.encoded, deletionDueAt: found.deletionDueAt,
            isVerified: found.isVerified)
    }

    /// Forgets the failures, remembers the place, and returns a new hash where it replaced one that was made with lesser
    /// parameters.
    private func welcome(
        _ found: Found, _ oldHash: PasswordHash, _ attempt: Throttle.Attempt, _ place: KnownDevices.Place,
        _ login: Login.Attempt?, password: String
    ) async throws -> String? {
        let now = clock.now
        var upgraded: String?
        if oldHash.needsUpgrade(to: hashing.parameters) {
            // Not now is not never: the next sign-in tries again.
            upgraded = try? await hashing.hash(password, random: random).encoded
        }
        let newHash = upgraded
        let isStill = try await database.write { db in
            // While it was hashed the password may have got out, and been changed for that: whoever knew the old one does
            // not make theirs a known place, nor have their guesses forgotten.
            let row = try db.rows(
                """
                SELECT id FROM users
                WHERE id = \(found.id) AND password_hash IN (\(oldHash.encoded), \(newHash ?? oldHash.encoded))
                    AND disabled_at IS NULL
                """
            ).first
            guard row != nil else { return false }
            try Throttle.refund(attempt, succeeded: true, in: db)
            try KnownDevices.remember(place, of: found.id, at: now, in: db)
            if let login { try Logins.succeed(login, in: db) }
            if let newHash {
                try User.rehash(found.id, from: oldHash.encoded, to: newHash, in: db)
            }
            return true
        }
        guard isStill else { throw Refusal.wrong(reason: "password_changed_meanwhile") }
        return newHash
    }

    private struct Found: Sendable {
        let id: UserID
        let hash: PasswordHash?
        let isDisabled: Bool
        let isVerified: Bool
        let deletionDueAt: Timestamp?
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
                    isVerified: try row.get("email_verified"), deletionDueAt: try row.get("deletion_due_at"),
                    known: try Self.known(place, of: id, in: db))
            }
        }
    }

    /// Somebody's hash, always the same one for an address: what is worked on where there is none, so that an unknown
    /// address costs what the known ones do, also where their hashes came from other systems.
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
