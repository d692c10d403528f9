import Cryptography
import Directory
import JSON
import Storage
import Values

extension Users {
    /// Stores the users of `batch` whose address is free, in one transaction. Returns how many.
    func insert(_ batch: [ImportedUser]) async throws -> Int {
        let now = clock.now
        let users = batch.map { (user: $0.user(at: now), passwordHash: $0.passwordHash?.encoded) }
        return try await database.write { db in try User.insert(users, in: db) }
    }

    /// The users of `batch` whose address is free.
    func free(_ batch: [ImportedUser]) async throws -> [ImportedUser] {
        let taken = try await database.read { db in try User.taken(batch.map(\.email), in: db) }
        return batch.filter { !taken.contains($0.email.text) }
    }
}

extension ImportedUser {
    func user(at now: Timestamp) -> User {
        User(
            id: id, email: email.text, emailVerified: emailVerified, profile: profile, createdAt: now, updatedAt: now,
            disabledAt: isDisabled ? now : nil, deletionDueAt: nil)
    }
}
