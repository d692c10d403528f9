public import Audit
import Cryptography
public import Directory
public import JSON
public import Storage
import Text
public import Values

/// Changes that users make to themselves.
extension Users {
    /// Queues a mail about a change, in the transaction of the change.
    public typealias Post = @Sendable (any Transaction) throws -> Void

    /// Whether the user can confirm by a password. Without an address they could neither sign in with one nor reset it.
    public func hasPassword(_ id: UserID) async throws -> Bool {
        try await database.read { db in
            try !db.rows(
                "SELECT id FROM users WHERE id = \(id) AND password_hash IS NOT NULL AND email IS NOT NULL"
            ).isEmpty
        }
    }

    /// Stores a user's own profile. False when the user is gone. Throws `PasswordSignIn.Refusal.throttled` after many
    /// changes.
    public func change(_ id: UserID, _ changes: ProfileChanges) async throws -> Bool {
        let now = clock.now
        return try await events.write(to: database, at: now) { db, announcement in
            guard let user = try User.find(id, in: db) else { return false }
            let kept = (user.profile.members ?? []).filter { !changes.named.contains($0.name) }
            let profile = JSON.object(kept + changes.set)
            guard profile != user.profile else { return true }
            try Throttle.chargeOwnChange(of: id, at: now, in: db)
            return try announcement.watching(id, in: db) {
                try User.setProfile(profile, of: id, at: now, in: db)
            }
        }
    }

    /// Sets a new password for the user of `session`, and ends everything obtained with the old one: every token, every
    /// other session, every mailed link, every known device but that of `place`, where the user is now. `session`
    /// continues with the new `secret`, so that a copy of its cookie, and the codes it gave, are void.
    ///
    /// `proof` shows that the old password was known; nil for a user without one. False when the password was changed,
    /// or the session ended, meanwhile. Throws `PasswordSignIn.Refusal.throttled` after many changes.
    public func changePassword(
        of session: Session, to password: Password, by proof: PasswordSignIn.Proof?, at place: KnownDevices.Place,
        renewing secret: Secret<Session>, post: @escaping Post
    ) async throws -> Bool {
        let now = clock.now
        let hash = try await hashing.hash(
            password.text, for: HashingPool.sender(place.address), random: random
        ).encoded
        return try await events.write(to: database, at: now) { db, announcement in
            let own = try db.rows("SELECT email, password_hash FROM users WHERE id = \(session.user)").first
            guard let own, try own.get("email", as: String?.self) != nil else { return false }
            let current: String? = try own.get("password_hash")
            // A retry after a COMMIT of unknown outcome: no other hash has this salt.
            if current == hash { return true }
            guard try Self.permits(proof, for: session, current: current, in: db) else { return false }
            try Throttle.chargeOwnPassword(in: session, isProved: proof != nil, at: now, in: db)
            try announcement.watching(session.user, in: db) {
                try User.setPasswordHash(hash, of: session.user, at: now, in: db)
            }
            try announcement.say(.accessRevoked(keeping: session.id), session.user, db)
            guard try Sessions.renew(session, with: secret, in: db) else { return false }
            try KnownDevices.remember(place, of: session.user, at: now, in: db)
            try post(db)
            return true
        }
    }

    /// Whether the user of `session` may still do what the current password guards. Checked in the transaction that
    /// does it, so that a form in flight cannot outrun a new password or the end of the session.
    static func permits(
        _ proof: PasswordSignIn.Proof?, for session: Session, current hash: String?, in db: any Transaction
    ) throws -> Bool {
        guard try Sessions.isLive(session, in: db) else { return false }
        guard let proof else { return hash == nil }
        return try proof.user == session.user && proof.holds(in: db)
    }

    /// The password hash that the user in `row` confirms by; nil without an address, too (`hasPassword`).
    static func confirming(_ row: Row) throws -> String? {
        try row.get("email", as: String?.self) == nil ? nil : row.get("password_hash")
    }
}

/// The user of a session, who has confirmed the password if there is one, and does what it guards.
public struct ConfirmedUser: Authority {
    private let session: Session
    private let proof: PasswordSignIn.Proof?

    public init(of session: Session, by proof: PasswordSignIn.Proof?) {
        self.session = session
        self.proof = proof
    }

    public var actor: Actor { Actor(.user(session.user)) }

    public func confirm(in db: any Transaction) throws {
        let row = try db.rows("SELECT email, password_hash FROM users WHERE id = \(session.user)").first
        guard let row, try Users.permits(proof, for: session, current: Users.confirming(row), in: db) else {
            throw PasswordSignIn.Refusal.wrong(reason: "password_changed_meanwhile")
        }
    }
}

/// Changes that clients make to their users.
extension Users {
    /// Stores the claims that `changes` makes of the user's profile, and nothing else. Nil if the user is deleted or
    /// waits for deletion. `changes` refuses by throwing. Throws `PasswordSignIn.Refusal.throttled` after many changes
    /// by clients of `merchant`.
    public func changeProfile(
        of id: UserID, by authority: some Authority, of merchant: Merchant.ID?,
        _ changes: @escaping @Sendable (JSON) throws -> UserChanges
    ) async throws -> User? {
        // A change may store a message for each of a hundred clients.
        try await database.inTurn(of: .user(id, of: merchant, for: "profiles")) {
            let now = clock.now
            return try await events.write(to: database, at: now, by: authority.actor) { db, announcement in
                try authority.confirm(in: db)
                guard var user = try User.find(id, in: db), user.deletionDueAt == nil else { return nil }
                let changes = try changes(user.profile)
                let members = user.profile.members ?? []
                let named = Set(changes.profile.map(\.name)).union(changes.withoutClaims)
                let changed = members.filter { !named.contains($0.name) } + changes.profile
                guard Set(changed) != Set(members) else { return user }
                try Throttle.chargeChange(of: id, by: merchant, at: now, in: db)
                user.profile = .object(changed)
                user.updatedAt = now
                _ = try announcement.watching(id, in: db) {
                    try User.setProfile(.object(changed), of: id, at: now, in: db)
                }
                return user
            }
        }
    }
}

/// A user's changes to their own profile: each field is set to a text or removed.
public struct ProfileChanges: Sendable {
    let set: [JSON.Member]
    /// The claims that were submitted, set or removed.
    let named: Set<String>

    /// The claims that users may set themselves; others come from merchants' documents or not at all.
    public static let fields = ["name", "given_name", "family_name", "phone_number", "locale"]

    /// The longest field, in bytes of UTF-8.
    public static let longest = User.longestClaim

    /// - Parameter field: the submitted text; nil for a field that was not submitted, which stays as it is.
    public init(_ field: (String) -> String?) throws(JSONFault) {
        var members: [JSON.Member] = []
        var named: Set<String> = []
        for name in Self.fields {
            guard let text = field(name) else { continue }
            named.insert(name)
            // Direction marks stay: they are part of a name.
            let trimmed = text.trimmingScalars(while: \.isWhiteSpace)
            if !trimmed.isEmpty { members.append(.init(name, .string(trimmed))) }
        }
        // Checked like administration's documents: one rule for what a profile can contain.
        self.set = try UserChanges(.object(members)).profile
        self.named = named
    }
}
