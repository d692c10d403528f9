public import Directory
public import JSON
import Storage
public import Values

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
            return try await events.write(to: database, at: now) { db, announcement in
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
