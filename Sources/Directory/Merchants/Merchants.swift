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
        id, number, name, logout_reaches_backends, skips_introduction, logo_uri, accent_color, mail_templates,
        created_at, updated_at, disabled_at
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
            mailTexts: try Merchant.mailTexts(members), createdAt: now, updatedAt: now, disabledAt: nil)
        merchant.number = try await database.write { [merchant] db in
            try authority.confirm(in: db)
            return try Self.insert(merchant, wishing: number, in: db)
        }
        return merchant
    }

    public func find(_ id: Merchant.ID) async throws -> Merchant? {
        try await database.read { db in
            try db.rows("SELECT \(Self.columns) FROM merchants WHERE id = \(id) AND deleted_at IS NULL").first
                .map(Merchant.init)
        }
    }

    /// At most `count` merchants whose id is after `cursor`, ordered by id.
    public func list(after cursor: String, count: Int) async throws -> [Merchant] {
        try await database.scan(for: .platform) { db in
            try db.rows(
                """
                SELECT \(Self.columns) FROM merchants
                WHERE id > \(cursor) AND deleted_at IS NULL ORDER BY id LIMIT \(count)
                """
            ).map(Merchant.init)
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
        let changed = try await database.write { [names] db -> Merchant? in
            try authority.confirm(in: db)
            guard
                var merchant = try db.rows(
                    "SELECT \(Self.columns) FROM merchants WHERE id = \(id) AND deleted_at IS NULL"
                ).first.map(Merchant.init)
            else { return nil }
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
                    mail_templates = \(merchant.mailTexts?.stored),
                    updated_at = \(merchant.updatedAt), disabled_at = \(merchant.disabledAt)
                WHERE id = \(id)
                """)
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
            accentColor: try row.get("accent_color"),
            mailTexts: (try row.get("mail_templates") as String?).map(MailTexts.init(stored:)),
            createdAt: try row.get("created_at"),
            updatedAt: try row.get("updated_at"), disabledAt: try row.get("disabled_at"))
    }
}
