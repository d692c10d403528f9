public import Storage
public import Values

extension Merchants {
    /// Deletes a merchant with its clients and all their data; false if there is none.
    ///
    /// From then on it is not found; `finishDeletions` deletes what exceeds `budget`. `first` deletes what must go
    /// first once the merchant is not found.
    public func delete(
        _ id: Merchant.ID, within budget: BulkErasure.Budget = .request, by authority: some MerchantAuthority,
        first: () async throws -> Void = {}
    ) async throws -> Bool {
        // Asked first: when the transaction runs again after a COMMIT of unknown outcome, it finds nothing left to
        // delete.
        guard try await find(id) != nil else { return false }
        let now = clock.now
        try await database.write { db in
            try authority.confirm(in: db)
            try db.execute(
                """
                UPDATE merchants SET deleted_at = \(now), disabled_at = COALESCE(disabled_at, \(now))
                WHERE id = \(id) AND deleted_at IS NULL
                """)
        }
        known.forget(clientsOf: id)
        try await first()
        var budget = budget
        _ = try await finish(id, &budget)
        return true
    }

    /// Continues deletions that have begun. Several nodes may do so at once.
    public func finishDeletions(within budget: BulkErasure.Budget) async throws -> DeletionRound {
        let ids: [Merchant.ID] = try await database.read { db in
            try db.rows(
                "SELECT id FROM merchants WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT \(DeletionRound.most)"
            ).map { try $0.get("id") }
        }
        return await DeletionRound(of: ids, within: budget, finish)
    }

    private func finish(_ id: Merchant.ID, _ budget: inout BulkErasure.Budget) async throws -> Bool {
        let now = clock.now
        while let client = try await anyClient(of: id) {
            guard !budget.isSpent else { return false }
            let isErased = try await erasure.client(client, &budget) { db in
                try Self.isBeingDeleted(id, in: db)
                    && !db.rows("SELECT id FROM clients WHERE id = \(client) AND merchant_id = \(id)").isEmpty
            }
            guard isErased else { return false }
            try await database.write { db in
                guard try Self.isBeingDeleted(id, in: db) else { return }
                try Clients.keepID(of: client, at: now, in: db)
                _ = try db.execute("DELETE FROM clients WHERE id = \(client) AND merchant_id = \(id)")
            }
            budget.spend()
        }
        guard try await erasure.merchant(id, &budget, while: { db in try Self.isBeingDeleted(id, in: db) }) else {
            return false
        }
        try await database.write { db in
            // Another node may have finished first, and the merchant may exist anew.
            guard try Self.isBeingDeleted(id, in: db) else { return }
            try Self.keepName(of: id, at: now, in: db)
            try Self.keepNumber(of: id, at: now, in: db)
            try ClientResources.keep(of: id, at: now, in: db)
            _ = try db.execute("DELETE FROM merchants WHERE id = \(id)")
        }
        return true
    }

    private static func isBeingDeleted(_ id: Merchant.ID, in db: any Transaction) throws -> Bool {
        try !db.rows("SELECT id FROM merchants WHERE id = \(id) AND deleted_at IS NOT NULL").isEmpty
    }

    private func anyClient(of merchant: Merchant.ID) async throws -> Client.ID? {
        try await database.read { db in
            try db.rows("SELECT id FROM clients WHERE merchant_id = \(merchant) ORDER BY id LIMIT 1").first?.get("id")
        }
    }
}
