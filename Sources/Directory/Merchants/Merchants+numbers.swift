import JSON
public import Storage
import Synchronization
public import Values

extension Merchant {
    /// What the clients of SPiD's SDKs can hold: their type is 32 bits wide, with a sign.
    static let numbers: ClosedRange<Int64> = 1...Int64(Int32.max)

    /// The number that a new merchant wishes for.
    static func number(_ members: JSONMembers) throws(JSONFault) -> Int64? {
        guard let value = members.any("number") else { return nil }
        guard let number = value.integer, numbers.contains(number) else {
            throw JSONFault("number", "a whole number from 1 to \(numbers.upperBound)")
        }
        return number
    }
}

extension Merchants {
    /// Stores a new merchant with `wish`, or the number after the highest; which number it has. One that another
    /// transaction takes at the same time fails here by its index, so no number is given twice.
    static func insert(_ merchant: Merchant, wishing wish: Int64?, in db: any Transaction) throws -> Int64 {
        let number = try wish ?? highestNumber(in: db) + 1
        guard Merchant.numbers.contains(number) else {
            throw JSONFault("number", "given: another merchant has the highest one")
        }
        try keepName(of: number, in: db)
        try db.execute(
            """
            INSERT INTO merchants (id, number, name, logout_reaches_backends, skips_introduction, logo_uri,
                accent_color, mail_templates, created_at, updated_at)
            VALUES (\(merchant.id), \(number), \(merchant.name), \(merchant.logoutReachesBackends),
                \(merchant.skipsIntroduction), \(merchant.logoURI), \(merchant.accentColor),
                \(merchant.mailTexts?.stored), \(merchant.createdAt), \(merchant.updatedAt))
            ON CONFLICT DO NOTHING
            """)
        // Asked again, because the transaction may run again after a COMMIT of unknown outcome.
        let stored: Int64? = try db.rows("SELECT number FROM merchants WHERE id = \(merchant.id)").first?.get("number")
        guard let stored else { throw JSONFault("number", "a number that no other merchant has") }
        return stored
    }

    /// Keeps the name of a merchant that is gone when its number is given again: under one that no merchant has.
    private static func keepName(of number: Int64, in db: any Transaction) throws {
        let taken = try db.rows("SELECT number FROM merchants WHERE number = \(number)")
        guard taken.isEmpty else { return }
        let lowest: Int64? = try db.rows("SELECT MIN(number) AS number FROM former_merchants").first?.get("number")
        try db.execute(
            "UPDATE former_merchants SET number = \(min(lowest ?? 0, 0) - 1) WHERE number = \(number)")
    }

    /// The highest number that any merchant has or had.
    private static func highestNumber(in db: any Transaction) throws -> Int64 {
        try db.rows(
            "SELECT MAX(number) AS number FROM merchants UNION ALL SELECT MAX(number) AS number FROM former_merchants"
        ).compactMap { try $0.get("number", as: Int64?.self) }.max() ?? 0
    }

    /// Notes the name of a merchant that is about to change or to go, by which users know it, and its number, which
    /// SPiD's API tells to clients of other merchants.
    static func keepNumberAndName(of id: Merchant.ID, in db: any Transaction) throws {
        try db.execute(
            """
            INSERT INTO former_merchants (number, name)
            SELECT number, name FROM merchants WHERE id = \(id)
            ON CONFLICT (number) DO UPDATE SET name = excluded.name
            """)
    }
}

/// The numbers of merchants, which never change: each is read from the database once.
public final class MerchantNumbers: Sendable {
    private let database: any Database
    private let known = Mutex<[Merchant.ID: Int64]>([:])
    private static let most = 10_000

    public init(database: any Database) { self.database = database }

    /// The number of a merchant, if it has one.
    public func number(of merchant: Merchant.ID?) async throws -> Int64? {
        guard let merchant else { return nil }
        if let number = known.withLock({ $0[merchant] }) { return number }
        let number: Int64? = try await database.read { db in
            try db.rows("SELECT number FROM merchants WHERE id = \(merchant)").first?.get("number")
        }
        guard let number else { return nil }
        known.withLock { known in
            if known.count >= Self.most { known.removeAll() }
            known[merchant] = number
        }
        return number
    }
}
