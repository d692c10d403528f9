public import Cryptography
import InternationalText
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

    /// Creates a merchant from `{"name", "number"?, "logout_reaches_backends"?, "skip_introduction"?}`. `confirm`
    /// repeats the checks that were made before this call, and refuses by throwing.
    public func create(
        _ json: JSON, confirm: @escaping @Sendable (any Transaction) throws -> Void = { _ in }
    ) async throws -> Merchant {
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
            try confirm(db)
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

    /// At most `count` merchants with ids after `cursor`, in the order of their ids.
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

    /// Changes the members that `json` names. Nil when there is no such merchant. A name that looks
    /// like another merchant's, or like one of `reserved`, is refused unless that is nil: pages and mails speak to
    /// users in it. `confirm` as above.
    public func change(
        _ id: Merchant.ID, _ json: JSON, reserved: [String]? = nil,
        confirm: @escaping @Sendable (any Transaction) throws -> Void = { _ in }
    ) async throws -> Merchant? {
        let members = try JSONMembers(json)
        let name = try members.name("name", most: Merchant.longestName)
        let reaches = try members.flag("logout_reaches_backends")
        let skips = try members.flag("skip_introduction")
        let disabled = try members.flag("disabled")
        // Before the write, for which everybody else's waits.
        let mailTexts = try Merchant.mailTexts(members)
        let now = clock.now
        let changed = try await database.write { db -> Merchant? in
            try confirm(db)
            try Self.number(id, in: db)
            guard
                var merchant = try db.rows(
                    "SELECT \(Self.columns) FROM merchants WHERE id = \(id) AND deleted_at IS NULL"
                ).first.map(Merchant.init)
            else { return nil }
            if let name, name != merchant.name {
                if let reserved {
                    try Self.permit(name, in: "name", of: id, reserved: reserved + [Client.unnamed], in: db)
                }
                try Self.keepNumberAndName(of: id, in: db)
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

    /// Refuses `name`, the `member` of `merchant` or of a client of theirs, when it looks like another merchant's, also
    /// like its last one or that of one that is gone, or like one of `reserved`: users would take the one for the
    /// other. `isOwn`: it may be the merchant's own name, also its last.
    static func permit(
        _ name: String, in member: String, of merchant: Merchant.ID, reserved: [String], isOwn: Bool = true,
        in db: any Transaction
    ) throws {
        let wanted = name.likenesses
        if isOwn {
            let own = try db.rows("SELECT name FROM merchants WHERE id = \(merchant)").first
            guard try own?.get("name", as: String.self).likeness != name.likeness else { return }
        }
        let isOthers = try db.rows(
            """
            SELECT id, name FROM merchants
            UNION ALL SELECT m.id, f.name FROM former_merchants f LEFT JOIN merchants m ON m.number = f.number
            WHERE f.name IS NOT NULL
            """
        ).contains { row in
            guard try !isOwn || row.get("id", as: Merchant.ID?.self) != merchant else { return false }
            return try !row.get("name", as: String.self).likenesses.isDisjoint(with: wanted)
        }
        guard !isOthers, !reserved.contains(where: { !$0.likenesses.isDisjoint(with: wanted) }) else {
            throw JSONFault(member, "unlike the name of another merchant or of the platform, which may give it")
        }
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
