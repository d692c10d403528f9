import Audit
public import Cryptography
public import JSON
public import Storage
public import Values

/// The merchants of this server.
public struct Merchants: Sendable {
    let database: any Database
    let clock: any WallClock
    private let random: any RandomSource
    let known: KnownClients
    let erasure: BulkErasure
    private let names = MerchantNames()

    /// `erasure` knows every table with data of a merchant.
    public init(
        database: any Database, clock: any WallClock, random: any RandomSource, known: KnownClients,
        erasure: BulkErasure
    ) {
        self.erasure = erasure
        self.database = database
        self.clock = clock
        self.random = random
        self.known = known
    }

    private static let columns: SQL.Columns =
        """
        id, number, name, logout_reaches_backends, skips_introduction, logo_uri, accent_color, events_uri,
        mail_templates, created_at, updated_at, disabled_at
        """

    /// Creates a merchant from `{"name", "number"?, "logout_reaches_backends"?, "skip_introduction"?}`.
    public func create(_ json: JSON, by authority: some MerchantAuthority) async throws -> Merchant {
        let members = try JSONMembers(json)
        let now = clock.now
        let number = try Merchant.number(members)
        var merchant = Merchant(
            id: .random(from: random), number: nil, name: try members.requiredName("name", most: Merchant.longestName),
            logoutReachesBackends: try members.flag("logout_reaches_backends") ?? false,
            skipsIntroduction: try members.flag("skip_introduction") ?? false,
            logoURI: try Merchant.logoURI(members, nil), accentColor: try Merchant.accentColor(members, nil),
            eventsURI: try Merchant.eventsURI(members, nil),
            mailTexts: try Merchant.mailTexts(members), createdAt: now, updatedAt: now, disabledAt: nil)
        let trail = AuditTrail(by: authority.actor, at: now, random: random)
        merchant.number = try await database.write { [merchant] db in
            try authority.confirm(in: db)
            let number = try Self.insert(merchant, wishing: number, in: db)
            try trail.record(
                "merchant.created", on: .merchant(merchant.id), merchant: merchant.id.text, after: merchant.json, in: db
            )
            return number
        }
        return merchant
    }

    public func find(_ id: Merchant.ID) async throws -> Merchant? {
        try await database.read { db in try Self.find(id, in: db) }
    }

    package static func find(_ id: Merchant.ID, in db: any Transaction) throws -> Merchant? {
        try db.rows("SELECT \(columns) FROM merchants WHERE id = \(id) AND deleted_at IS NULL").first
            .map(Merchant.init)
    }

    /// Those of `ids` that want their events.
    public static func receivers(among ids: [Merchant.ID], in db: any Transaction) throws -> Set<Merchant.ID> {
        guard !ids.isEmpty else { return [] }
        return Set(
            try db.rows(
                "SELECT id FROM merchants WHERE id IN (\(list: ids)) AND events_uri IS NOT NULL AND deleted_at IS NULL"
            ).map { try $0.get("id") })
    }

    /// At most `count` merchants that `search` finds after `place`.
    public func list(
        _ search: MerchantSearch, after place: MerchantSearch.Place?, count: Int
    ) async throws -> [Merchant] {
        try await database.scan(for: .platform) { db in
            try db.rows(
                """
                SELECT \(Self.columns) FROM merchants
                WHERE \(search.condition) AND \(search.after(place)) AND deleted_at IS NULL
                ORDER BY \(search.orderBy) LIMIT \(count)
                """
            ).map(Merchant.init)
        }
    }

    /// How many merchants `search` finds.
    public func count(_ search: MerchantSearch) async throws -> Int {
        try await database.scan(for: .platform) { db in
            try db.rows(
                "SELECT COUNT(*) AS number FROM merchants WHERE \(search.condition) AND deleted_at IS NULL"
            ).first?.get("number") ?? 0
        }
    }

    /// Changes the members that `json` names; nil if there is no such merchant. Only some authorities may give a name
    /// that resembles another merchant's, because pages and mails show it to users.
    public func change(
        _ id: Merchant.ID, _ json: JSON, by authority: some MerchantAuthority
    ) async throws -> Merchant? {
        try authority.permit(changingMerchantBy: json)
        let reserved = authority.reservedNames
        let members = try JSONMembers(json)
        let name = try members.name("name", most: Merchant.longestName)
        let reaches = try members.flag("logout_reaches_backends")
        let skips = try members.flag("skip_introduction")
        let disabled = try members.flag("disabled")
        // Before the write, which all other writes wait for.
        let mailTexts = try Merchant.mailTexts(members)
        let now = clock.now
        if name != nil, reserved != nil { try await names.learn(from: database) }
        let trail = AuditTrail(by: authority.actor, at: now, random: random)
        let changed = try await database.write { [names] db -> Merchant? in
            try authority.confirm(in: db)
            guard
                var merchant = try db.rows(
                    "SELECT \(Self.columns) FROM merchants WHERE id = \(id) AND deleted_at IS NULL"
                ).first.map(Merchant.init)
            else { return nil }
            let former = merchant
            if let name, name != merchant.name {
                if let reserved {
                    try names.permit(name, in: "name", of: id, reserved: reserved + [Client.unnamed], in: db)
                }
                try Self.keepName(of: id, at: now, in: db)
                if reserved != nil { try Self.confirmNames(of: id, in: db) }
                merchant.name = name
            }
            merchant.logoURI = try Merchant.logoURI(members, merchant)
            merchant.accentColor = try Merchant.accentColor(members, merchant)
            merchant.eventsURI = try Merchant.eventsURI(members, merchant)
            if members.has("mail_templates") { merchant.mailTexts = mailTexts }
            merchant.logoutReachesBackends = reaches ?? merchant.logoutReachesBackends
            merchant.skipsIntroduction = skips ?? merchant.skipsIntroduction
            if let disabled { merchant.disabledAt = disabled ? merchant.disabledAt ?? now : nil }
            merchant.updatedAt = now
            try db.execute(
                """
                UPDATE merchants SET name = \(merchant.name),
                    logout_reaches_backends = \(merchant.logoutReachesBackends),
                    skips_introduction = \(merchant.skipsIntroduction),
                    logo_uri = \(merchant.logoURI), accent_color = \(merchant.accentColor),
                    events_uri = \(merchant.eventsURI),
                    mail_templates = \(merchant.mailTexts?.stored),
                    updated_at = \(merchant.updatedAt), disabled_at = \(merchant.disabledAt)
                WHERE id = \(id)
                """)
            try trail.recordChange(
                "merchant.changed", on: .merchant(id), merchant: id.text, from: former.json, to: merchant.json, in: db)
            return merchant
        }
        if changed != nil { known.forget(clientsOf: id) }
        return changed
    }
}

extension Merchants {
    /// Confirms that `id` exists, in the transaction that gives it something: the row of a deleted merchant remains for
    /// a while. Throws `JSONFault`.
    package static func confirm(_ id: Merchant.ID, in db: any Transaction) throws {
        guard try db.rows("SELECT id FROM merchants WHERE id = \(id) AND deleted_at IS NULL").isEmpty else { return }
        throw JSONFault("merchant_id", "the id of a merchant")
    }
}

extension Merchant {
    init(_ row: Row) throws {
        self.init(
            id: try row.get("id"), number: try row.get("number"), name: try row.get("name"),
            logoutReachesBackends: try row.get("logout_reaches_backends"),
            skipsIntroduction: try row.get("skips_introduction"), logoURI: try row.get("logo_uri"),
            accentColor: try row.get("accent_color"), eventsURI: try row.get("events_uri"),
            mailTexts: (try row.get("mail_templates") as String?).map(MailTexts.init(stored:)),
            createdAt: try row.get("created_at"),
            updatedAt: try row.get("updated_at"), disabledAt: try row.get("disabled_at"))
    }
}

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
        guard let merchant = try await find(id) else { return false }
        let now = clock.now
        let trail = AuditTrail(by: authority.actor, at: now, random: random)
        try await database.write { db in
            try authority.confirm(in: db)
            try trail.record(
                "merchant.deleted", on: .merchant(id), merchant: id.text, before: merchant.json, in: db)
            try db.execute(
                """
                UPDATE merchants SET deleted_at = \(now), disabled_at = COALESCE(disabled_at, \(now))
                WHERE id = \(id) AND deleted_at IS NULL
                """)
            try Issuers.noteGone(of: id, at: now, in: db)
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
            try ClientResources.keep(of: id, in: db)
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
