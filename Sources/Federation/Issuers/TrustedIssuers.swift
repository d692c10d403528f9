import Audit
public import Cryptography
public import Directory
public import JSON
public import Keys
public import OAuth
public import Outbound
public import Storage
public import Values

/// Stores trusted issuers.
public struct TrustedIssuers: Sendable {
    let database: any Database
    let clock: any WallClock
    private let random: any RandomSource
    private let seal: Seal
    private let outbound: OutboundPolicy
    let sessions: Sessions
    let families: TokenFamilies

    /// - Parameters:
    ///   - sessions: those that rest on the issuers.
    ///   - families: the same.
    public init(
        database: any Database, clock: any WallClock, random: any RandomSource, seal: Seal, outbound: OutboundPolicy,
        sessions: Sessions, families: TokenFamilies
    ) {
        self.database = database
        self.clock = clock
        self.random = random
        self.seal = seal
        self.outbound = outbound
        self.sessions = sessions
        self.families = families
    }

    /// Registers an issuer of `merchant`. Throws a `JSONFault` for `issuer` if the merchant already has it.
    public func register(
        _ json: JSON, merchant: Merchant.ID, by authority: some IssuerAuthority
    ) async throws -> TrustedIssuer {
        let metadata = try IssuerMetadata(json, outbound: outbound)
        let now = clock.now
        guard
            let issuer = seal.issuer(
                .random(from: random), of: merchant, metadata, over: nil,
                signsInEverywhere: authority.trustsEverywhere, at: now)
        else { throw JSONFault("jwks", "given") }
        let trail = AuditTrail(by: authority.actor, at: now, random: random)
        do {
            try await database.write { db in
                try authority.confirm(in: db)
                if metadata.holdsSecret { try seal.confirm(in: db) }
                try Merchants.confirm(merchant, in: db)
                try Self.insert(issuer, in: db)
                try authority.permit(registering: issuer, in: db)
                try trail.record(
                    "issuer.created", on: Party(.issuer, issuer.id.text), merchant: merchant.text, after: issuer.json,
                    in: db)
            }
        } catch StorageError.conflict {
            throw JSONFault("issuer", "new to the merchant: it has an issuer of this name")
        }
        return issuer
    }

    /// How many issuers a merchant's administrators may register.
    public static let mostOfMerchant = 100

    /// Whether `merchant` has no more issuers than that, including the one just stored.
    public static func hasRoom(_ merchant: Merchant.ID, in db: any Transaction) throws -> Bool {
        try db.rows(
            """
            SELECT issuer_id FROM issuer_settings WHERE merchant_id = \(merchant)
            ORDER BY issuer_id LIMIT 1 OFFSET \(mostOfMerchant)
            """
        ).isEmpty
    }

    public func find(_ id: TrustedIssuer.ID) async throws -> TrustedIssuer? {
        try await database.read { db in try Self.find(id, in: db) }
    }

    /// Those of `ids` that are issuers here.
    public static func known(
        among ids: [TrustedIssuer.ID], in db: any Transaction
    ) throws -> Set<TrustedIssuer.ID> {
        guard !ids.isEmpty else { return [] }
        return Set(
            try db.rows("SELECT issuer_id FROM issuer_settings WHERE issuer_id IN (\(list: ids))")
                .map { try $0.get("issuer_id") })
    }

    package static func find(_ id: TrustedIssuer.ID, in db: any Transaction) throws -> TrustedIssuer? {
        try db.rows("SELECT \(columns) FROM \(stored) WHERE s.issuer_id = \(id)").first.map(TrustedIssuer.init)
    }

    /// Whether `issuer` is still trusted as it was when it identified a user: requests to other servers, which may take
    /// seconds, come between that and this transaction.
    static func stands(_ issuer: TrustedIssuer, in db: any Transaction) throws -> Bool {
        guard let current = try find(issuer.id, in: db), current.disabledAt == nil else { return false }
        return current.isTrustedAlike(issuer) && current.createsUsers == issuer.createsUsers
            && current.signIn?.clientID == issuer.signIn?.clientID
            && (current.signsInEverywhere || !issuer.signsInEverywhere)
    }

    /// The issuer that `merchant` registered under this name, or the provider that sometimes uses it. Other merchants'
    /// issuers of the same name are other issuers.
    public func find(_ issuer: String, of merchant: Merchant.ID) async throws -> TrustedIssuer? {
        try await database.read { db in
            if let found = try Self.find(issuer, of: merchant, in: db) { return found }
            guard let provider = Provider(alias: issuer),
                let found = try Self.find(provider.issuer, of: merchant, in: db), found.app?.provider == provider
            else { return nil }
            return found
        }
    }

    private static func find(
        _ issuer: String, of merchant: Merchant.ID, in db: any Transaction
    ) throws -> TrustedIssuer? {
        try db.rows(
            "SELECT \(columns) FROM \(stored) WHERE s.merchant_id = \(merchant) AND issuer = \(issuer)"
        ).first.map(TrustedIssuer.init)
    }

    /// At most `count` issuers with an id after `cursor`: of one merchant, or of all when nil.
    public func list(of merchant: Merchant.ID?, after cursor: String, count: Int) async throws -> [TrustedIssuer] {
        try await database.scan(for: .of(merchant)) { db in
            let rows =
                if let merchant {
                    try db.rows(
                        """
                        SELECT \(Self.columns) FROM \(Self.stored)
                        WHERE s.merchant_id = \(merchant) AND s.issuer_id > \(cursor)
                        ORDER BY s.issuer_id LIMIT \(count)
                        """)
                } else {
                    try db.rows(
                        """
                        SELECT \(Self.columns) FROM \(Self.stored)
                        WHERE s.issuer_id > \(cursor) ORDER BY s.issuer_id LIMIT \(count)
                        """)
                }
            return try rows.map(TrustedIssuer.init)
        }
    }

    /// Changes the members that `json` names; nil if there is no such issuer. Reading and writing are one transaction,
    /// so a change of the audiences never undoes a disabling in between.
    public func change(
        _ id: TrustedIssuer.ID, _ json: JSON, by authority: some IssuerAuthority
    ) async throws -> TrustedIssuer? {
        let now = clock.now
        let trail = AuditTrail(by: authority.actor, at: now, random: random)
        return try await database.write { db in
            try authority.confirm(in: db)
            guard let issuer = try Self.find(id, in: db) else { return nil }
            let metadata = try IssuerMetadata(json, over: issuer, outbound: outbound)
            if metadata.holdsSecret { try seal.confirm(in: db) }
            let changed =
                seal.issuer(
                    id, of: issuer.merchant, metadata, over: issuer, signsInEverywhere: authority.trustsEverywhere,
                    at: now) ?? issuer
            try authority.permit(changing: issuer, to: changed)
            _ = try Self.update(changed, in: db)
            if issuer.signsInEverywhere, !changed.signsInEverywhere {
                try Issuers.confine(id.text, at: now, in: db)
            }
            try trail.recordChange(
                "issuer.changed", on: Party(.issuer, id.text), merchant: issuer.merchant.text, from: issuer.json,
                to: changed.json, secrets: metadata.holdsSecret ? ["secret"] : [], in: db)
            return changed
        }
    }
}

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
        let trail = AuditTrail(by: authority.actor, at: clock.now, random: random)
        return try await delete(id, within: budget) { issuer, db in
            try authority.confirm(in: db)
            try authority.permit(deleting: issuer)
            try trail.record(
                "issuer.deleted", on: Party(.issuer, id.text), merchant: issuer.merchant.text, before: issuer.json,
                in: db)
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
