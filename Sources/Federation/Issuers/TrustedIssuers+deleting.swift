public import Directory
import OAuth
public import Storage
public import Values

extension TrustedIssuers {
    /// The most links that go in one transaction, or nobody else could write for long.
    private static let batch = 200

    /// Deletes an issuer, its links, and the sessions and tokens that rest on it; the users stay. False when there is
    /// none. `confirm`, which repeats the checks that were made before this call, and `permit` refuse by throwing.
    ///
    /// Nobody finds it any more, and its name is free. Links beyond `budget` go by `finishDeletions`. Its row stays
    /// while there are links to it that users have removed (`keepRemovedLinks`).
    public func delete(
        _ id: TrustedIssuer.ID, within budget: BulkErasure.Budget = .request,
        confirm: @escaping @Sendable (any Transaction) throws -> Void = { _ in },
        permit: @escaping @Sendable (TrustedIssuer) throws -> Void = { _ in }
    ) async throws -> Bool {
        // Checked first: a transaction that runs again after a COMMIT with an unknown outcome finds nothing to delete.
        guard try await find(id) != nil else { return false }
        let now = clock.now
        try await database.write { db in
            guard let issuer = try Self.find(id, in: db) else { return }
            try confirm(db)
            try permit(issuer)
            try db.execute(
                """
                UPDATE issuers SET issuer = \(try Self.nameOfDeleted(issuer, in: db)), deleted_at = \(now),
                    disabled_at = COALESCE(disabled_at, \(now))
                WHERE id = \(id)
                """)
            try ClosedIssuers.note(id.text, of: issuer.merchant, isClosed: true, in: db)
        }
        var budget = budget
        _ = try await finish(id, &budget)
        return true
    }

    /// A name that is free at the merchant, by which nobody finds it. None that is registered has a blank; some that
    /// were registered before that have.
    private static func nameOfDeleted(_ issuer: TrustedIssuer, in db: any Transaction) throws -> String {
        var name = "\(issuer.issuer) \(issuer.id)"
        while try !db.rows(
            "SELECT id FROM issuers WHERE merchant_id = \(issuer.merchant) AND issuer = \(name)"
        ).isEmpty { name += " " }
        return name
    }

    /// Deletes those of `merchant`, which is being deleted: nothing that rests on them outlives them untold.
    public func deleteAll(of merchant: Merchant.ID, within budget: BulkErasure.Budget = .request) async throws {
        let ids: [TrustedIssuer.ID] = try await database.read { db in
            try db.rows("SELECT id FROM issuers WHERE merchant_id = \(merchant) AND deleted_at IS NULL")
                .map { try $0.get("id") }
        }
        for id in ids { _ = try await delete(id, within: budget) }
    }

    /// Goes on with deletions that have begun; any number of nodes may. Also of issuers that went with their merchant,
    /// while sessions rest on them.
    public func finishDeletions(within budget: BulkErasure.Budget) async throws -> DeletionRound {
        let now = clock.now
        let ids: [TrustedIssuer.ID] = try await database.read { db in
            let begun = try db.rows(
                "SELECT id FROM issuers WHERE deleted_at > 0 ORDER BY deleted_at LIMIT \(DeletionRound.most)")
            let gone = try ClosedIssuers.restedOn(atMost: DeletionRound.most, at: now, in: db)
            return try begun.map { try $0.get("id") } + gone.map { TrustedIssuer.ID($0) }
        }
        return await DeletionRound(of: ids, within: budget, finish)
    }

    private func finish(_ id: TrustedIssuer.ID, _ budget: inout BulkErasure.Budget) async throws -> Bool {
        // Another node may have finished it.
        let merchant: Merchant.ID? = try await database.read { db in
            try db.rows(
                """
                SELECT merchant_id FROM issuers WHERE id = \(id)
                UNION ALL SELECT COALESCE(merchant_id, '') AS merchant_id FROM closed_issuers
                WHERE issuer_id = \(id) AND is_gone = 1
                """
            ).first?.get("merchant_id")
        }
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
        try await database.write { db in
            try db.execute(
                """
                DELETE FROM issuers WHERE id = \(id)
                    AND NOT EXISTS (SELECT 1 FROM removed_links r WHERE r.issuer_id = issuers.id)
                """)
            // With 0 the row stays for the links that users have removed, and for nothing else.
            try db.execute(
                """
                UPDATE issuers SET deleted_at = 0, jwks = NULL, audiences = '', sealed_secret = NULL,
                    sealed_app_secret = NULL, sealed_client_secret = NULL
                WHERE id = \(id)
                """)
            try ClosedIssuers.noteGone(id.text, of: merchant, in: db)
        }
        return true
    }

    /// Moves to `issuer`, which was just stored, the links that users removed of one that its merchant had under the
    /// same name and deleted: otherwise the merchant could attach them again.
    static func keepRemovedLinks(for issuer: TrustedIssuer, in db: any Transaction) throws {
        let former: [TrustedIssuer.ID] = try db.rows(
            """
            SELECT id FROM issuers
            WHERE merchant_id = \(issuer.merchant) AND deleted_at IS NOT NULL
                AND RTRIM(issuer) = CAST(\(issuer.issuer + " ") AS TEXT) || id
            """
        ).map { try $0.get("id") }
        for id in former {
            try db.execute(
                """
                INSERT INTO removed_links (user_id, issuer_id, created_at)
                SELECT user_id, \(issuer.id), created_at FROM removed_links WHERE issuer_id = \(id)
                ON CONFLICT (user_id, issuer_id) DO NOTHING
                """)
            try db.execute(
                """
                INSERT INTO removed_subjects (issuer_id, subject, user_id, created_at)
                SELECT \(issuer.id), subject, user_id, created_at FROM removed_subjects WHERE issuer_id = \(id)
                ON CONFLICT (issuer_id, subject, user_id) DO NOTHING
                """)
            try db.execute("DELETE FROM removed_links WHERE issuer_id = \(id)")
            try db.execute("DELETE FROM removed_subjects WHERE issuer_id = \(id)")
            try db.execute("DELETE FROM issuers WHERE id = \(id) AND deleted_at = 0")
        }
    }
}
