import Directory
public import Storage
public import Values

/// What happens when a deletion is due.
extension UserDeletion {
    /// The result of one round.
    public struct Round: Sendable {
        public fileprivate(set) var gone = 0
        /// Whether there may be more.
        public fileprivate(set) var isBehind = false
        /// The users that could not be deleted yet, and why.
        public fileprivate(set) var failures: [(user: UserID, error: any Error)] = []
    }

    /// Deletes users whose deletion is due, at most `batch`, each in its own transactions. Any number of nodes may do
    /// so at once: each user is deleted once. A failure does not hold up the others.
    public func deleteDue(
        at now: Timestamp, batch: Int = 20, within budget: BulkErasure.Budget = .unlimited
    ) async throws -> Round {
        let due: [UserID] = try await database.read { db in
            try db.rows(
                "SELECT id FROM users WHERE deletion_due_at <= \(now) ORDER BY deletion_due_at LIMIT \(batch)"
            ).map { try $0.get("id") }
        }
        var round = Round()
        var budget = budget
        for user in due {
            do {
                if try await finish(user, at: now, &budget) { round.gone += 1 }
                guard !budget.isSpent else {
                    round.isBehind = true
                    return round
                }
            } catch {
                round.failures.append((user, error))
            }
        }
        round.isBehind = due.count >= batch && round.gone > 0
        return round
    }

    /// Deletes a user that is due, unless that takes more than `budget`. Returns whether this call did it.
    func finish(_ id: UserID, at now: Timestamp, _ budget: inout BulkErasure.Budget) async throws -> Bool {
        let isErased = try await erasure.user(id, &budget) { db in
            try User.find(id, in: db)?.deletionDueAt.map { $0 <= now } == true
        }
        guard isErased else { return false }
        return try await events.write(to: database, at: now) { db, announcement in
            // Restored, or another node was faster, or this closure runs again after a COMMIT of unknown outcome.
            guard let due = try User.find(id, in: db)?.deletionDueAt, due <= now else { return false }
            // Before the row is deleted, because it leads to the clients that are told.
            try announcement.say(.deleted, id, db)
            // Rows with a foreign key are deleted with the user's. Tokens and codes without one keep a user id that no
            // longer exists, until they expire.
            return try User.delete(id, dueBy: now, in: db)
        }
    }
}
