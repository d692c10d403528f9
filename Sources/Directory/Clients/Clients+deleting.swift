public import Storage
public import Values

extension Clients {
    /// Deletes a client and all its data; false if there is none.
    ///
    /// From then on it is not found and gets no new data. Its data beyond `budget` are deleted by `finishDeletions`.
    public func delete(
        _ id: Client.ID, within budget: BulkErasure.Budget = .request, by authority: some ClientAuthority
    ) async throws -> Bool {
        // Asked first: when the transaction runs again after a COMMIT of unknown outcome, it finds nothing left to
        // delete.
        guard let client = try await find(id) else { return false }
        let now = clock.now
        try await database.write { db in
            // Once it is deleted, the requester's own token may have ended with it.
            guard let client = try Self.find(id, in: db) else { return }
            try authority.confirm(in: db)
            try authority.permit(deleting: client, in: db)
            try db.execute(
                """
                UPDATE clients SET deleted_at = \(now), disabled_at = COALESCE(disabled_at, \(now))
                WHERE id = \(id) AND deleted_at IS NULL
                """)
            try Self.keepID(of: id, at: now, in: db)
        }
        known.forget(id, hosts: !client.spid.sessionHosts.isEmpty)
        var budget = budget
        _ = try await finish(id, &budget)
        return true
    }

    /// Continues deletions that have begun. Several nodes may do so at once.
    public func finishDeletions(within budget: BulkErasure.Budget) async throws -> DeletionRound {
        let ids: [Client.ID] = try await database.read { db in
            try db.rows(
                "SELECT id FROM clients WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT \(DeletionRound.most)"
            ).map { try $0.get("id") }
        }
        return await DeletionRound(of: ids, within: budget, finish)
    }

    private func finish(_ id: Client.ID, _ budget: inout BulkErasure.Budget) async throws -> Bool {
        // They would be deleted along with its token families, and their sites would not be told.
        var hasMore = true
        while hasMore {
            guard !budget.isSpent else { return false }
            hasMore = try await sessions.endWebViews(of: id)
            if hasMore { budget.spend() }
        }
        let isErased = try await erasure.client(id, &budget) { db in
            try !db.rows("SELECT id FROM clients WHERE id = \(id) AND deleted_at IS NOT NULL").isEmpty
        }
        guard isErased else { return false }
        try await database.write { db in
            _ = try db.execute("DELETE FROM clients WHERE id = \(id) AND deleted_at IS NOT NULL")
        }
        return true
    }
}
