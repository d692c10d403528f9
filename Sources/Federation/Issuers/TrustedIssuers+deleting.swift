public import Directory
import OAuth
public import Storage
public import Values

extension TrustedIssuers {
    /// The most links that are deleted in one transaction, so that other writes do not wait for long.
    private static let batch = 200

    /// Deletes an issuer, its links, and the sessions and tokens that rest on it, but not the users. False if there is
    /// none.
    ///
    /// From then on it is not found, and its name is free. `finishDeletions` deletes what exceeds `budget`.
    public func delete(
        _ id: TrustedIssuer.ID, within budget: BulkErasure.Budget = .request, by authority: some IssuerAuthority
    ) async throws -> Bool {
        try await delete(id, within: budget) { issuer, db in
            try authority.confirm(in: db)
            try authority.permit(deleting: issuer)
        }
    }

    private func delete(
        _ id: TrustedIssuer.ID, within budget: BulkErasure.Budget,
        _ check: @escaping @Sendable (TrustedIssuer, any Transaction) throws -> Void
    ) async throws -> Bool {
        // Checked first: a transaction that runs again after a COMMIT with an unknown outcome finds nothing to delete.
        guard try await find(id) != nil else { return false }
        let now = clock.now
        try await database.write { db in
            guard let issuer = try Self.find(id, in: db) else { return }
            try check(issuer, db)
            try Issuers.noteGone(id.text, at: now, in: db)
            try db.execute("DELETE FROM issuer_settings WHERE issuer_id = \(id)")
        }
        var budget = budget
        _ = try await finish(id, &budget)
        return true
    }

    /// Deletes the issuers of `merchant`, which is being deleted, so that everything that rests on them ends and is
    /// told.
    public func deleteAll(of merchant: Merchant.ID, within budget: BulkErasure.Budget = .request) async throws {
        let ids: [TrustedIssuer.ID] = try await database.read { db in
            try db.rows("SELECT issuer_id FROM issuer_settings WHERE merchant_id = \(merchant)")
                .map { try $0.get("issuer_id") }
        }
        for id in ids { _ = try await delete(id, within: budget) { _, _ in } }
    }

    /// Continues deletions that have begun, also of issuers whose merchant is deleted. Several nodes may do so at once.
    public func finishDeletions(within budget: BulkErasure.Budget) async throws -> DeletionRound {
        let now = clock.now
        let ids: [TrustedIssuer.ID] = try await database.read { db in
            try Issuers.gone(
                leaving: "\(IssuerSubjects.areLeft) OR \(TokenFamilies.endWithIssuer)", atMost: DeletionRound.most,
                at: now, in: db
            ).map { TrustedIssuer.ID($0) }
        }
        return await DeletionRound(of: ids, within: budget, finish)
    }

    private func finish(_ id: TrustedIssuer.ID, _ budget: inout BulkErasure.Budget) async throws -> Bool {
        // Nil if another node has finished the deletion.
        let merchant = try await database.read { db in try Issuers.merchant(ofGone: id.text, in: db) }
        guard let merchant else { return true }
        var hasMore = true
        while hasMore {
            guard !budget.isSpent else { return false }
            let hasMoreFamilies = try await families.endAsserted(by: id.text, of: merchant, at: clock.now)
            hasMore = try await sessions.endAsserted(by: id.text, of: merchant) || hasMoreFamilies
            if hasMore { budget.spend() }
        }
        var gone = Self.batch
        while gone >= Self.batch {
            guard !budget.isSpent else { return false }
            gone = try await database.write { db in
                try db.execute(
                    """
                    DELETE FROM issuer_subjects WHERE issuer_id = \(id) AND subject IN (
                        SELECT subject FROM issuer_subjects WHERE issuer_id = \(id) LIMIT \(Self.batch))
                    """)
            }
            if gone >= Self.batch { budget.spend() }
        }
        return true
    }
}
