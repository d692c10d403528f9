import Cryptography
public import Directory
import JSON
public import Storage
public import Values

/// What people do with their own accounts.
extension Users {
    /// What else belongs to a change, in its transaction: the mail that tells of it.
    public typealias Also = @Sendable (any Transaction) throws -> Void

    /// Whether the person can be asked for a password.
    public func hasPassword(_ id: UserID) async throws -> Bool {
        try await database.read { db in
            try !db.rows("SELECT id FROM users WHERE id = \(id) AND password_hash IS NOT NULL").isEmpty
        }
    }

    /// Stores what a person says about themselves. False when there is no such account any more.
    public func change(_ id: UserID, _ changes: ProfileChanges) async throws -> Bool {
        let now = clock.now
        return try await events.write(to: database, at: now) { db, announcement in
            guard let user = try User.find(id, in: db) else { return false }
            let kept = (user.profile.members ?? []).filter { !changes.named.contains($0.name) }
            let profile = JSON.object(kept + changes.set)
            guard profile != user.profile else { return true }
            return try announcement.watching(id, in: db) {
                try User.setProfile(profile, of: id, at: now, in: db)
            }
        }
    }

    /// Gives the person of `session` a new password, and ends all else that came of the old one: every token, every
    /// other session, every secret on its way by mail.
    ///
    /// `proof` is that the old one was known; nil for an account without one. False when that was overtaken meanwhile.
    public func changePassword(
        of session: Session, to password: Password, by proof: SignIn.Proof?, also: @escaping Also
    ) async throws -> Bool {
        let now = clock.now
        let hash = try await hashing.hash(password.text, random: random).encoded
        return try await events.write(to: database, at: now) { db, announcement in
            let own = try db.rows("SELECT password_hash FROM users WHERE id = \(session.user)").first
            let current: String? = try own?.get("password_hash")
            // A retry after a COMMIT of unknown outcome: no other hash has this salt.
            if current == hash { return true }
            guard try Self.permits(proof, for: session, current: current, in: db) else { return false }
            try announcement.watching(session.user, in: db) {
                try User.setPasswordHash(hash, of: session.user, at: now, in: db)
            }
            try announcement.say(.accessRevoked(keeping: session.id), session.user, db)
            try also(db)
            return true
        }
    }

    /// Whether the person of `session` may still do what the current password guards. Asked in the transaction that does
    /// it: neither a new password nor the session's end must be outrun by a form that was in flight.
    static func permits(
        _ proof: SignIn.Proof?, for session: Session, current hash: String?, in db: any Transaction
    ) throws -> Bool {
        guard try Sessions.isLive(session, in: db) else { return false }
        guard let proof else { return hash == nil }
        return try proof.user == session.user && proof.holds(in: db)
    }
    /// Throws `SignIn.Refusal` unless the person of `session` may still do what `proof` allows: for what the proof only
    /// begins, in the transaction that does.
    public static func confirm(_ proof: SignIn.Proof?, for session: Session, in db: any Transaction) throws {
        let row = try db.rows("SELECT password_hash FROM users WHERE id = \(session.user)").first
        let hash: String? = try row?.get("password_hash")
        guard row != nil, try permits(proof, for: session, current: hash, in: db) else {
            throw SignIn.Refusal.wrong(reason: "password_changed_meanwhile")
        }
    }
}
