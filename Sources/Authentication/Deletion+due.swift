import Directory
import Storage
public import Values

/// What happens when the time has come.
extension Deletion {
    /// What one round came to.
    public struct Round: Sendable {
        public fileprivate(set) var gone = 0
        /// Whether there may be more.
        public fileprivate(set) var isBehind = false
        /// The accounts that are still there, and why.
        public fileprivate(set) var failures: [(user: UserID, error: any Error)] = []
    }

    /// Deletes the accounts that are due, `batch` at most, each in transactions of its own. Any number of nodes may do so
    /// at once: each account goes once. One that fails keeps no other from its turn.
    public func deleteDue(at now: Timestamp, batch: Int = 20) async throws -> Round {
        let due: [UserID] = try await database.read { db in
            try db.rows(
                "SELECT id FROM users WHERE deletion_due_at <= \(now) ORDER BY deletion_due_at LIMIT \(batch)"
            ).map { try $0.get("id") }
        }
        var round = Round()
        for user in due {
            do {
                if try await finish(user, at: now) { round.gone += 1 }
            } catch {
                round.failures.append((user, error))
            }
        }
        round.isBehind = due.count >= batch && round.gone > 0
        return round
    }

    /// Deletes an account that is due, and tells of it. Returns whether this call was the one that did.
    func finish(_ id: UserID, at now: Timestamp) async throws -> Bool {
        try await strangers.clear(id)
        return try await news.write(to: database, at: now) { [strangers] db, announcement in
            // Restored, or another node was quicker, or this closure runs again after a COMMIT of unknown outcome.
            guard let user = try User.find(id, in: db), let due = user.deletionDueAt, due <= now else {
                return false
            }
            // First: who is to be told hangs on the account.
            try announcement.say(.deleted, id, db)
            try strangers.farewell(user, now, db)
            // A sign-up or a code that waits for an answer may know the address without the account.
            if let email = user.email { try Verifications.forget(email: email, in: db) }
            // Sessions, known places, connections, consents, permissions and links of issuers go with it. What has no
            // foreign key is a number that leads nowhere: in tokens and codes, until they expire.
            return try User.delete(id, dueBy: now, in: db)
        }
    }
}
