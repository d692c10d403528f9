import JSON
public import Storage
import Synchronization
public import Values

extension Merchant {
    /// The numbers that SPiD's SDKs can store: their type is a signed 32-bit integer.
    static let numbers: ClosedRange<Int64> = 1...Int64(Int32.max)

    /// The number that is requested for a new merchant.
    static func number(_ members: JSONMembers) throws(JSONFault) -> Int64? {
        guard let value = members.any("number") else { return nil }
        guard let number = value.integer, numbers.contains(number) else {
            throw JSONFault("number", "a whole number from 1 to \(numbers.upperBound)")
        }
        return number
    }
}

extension Merchants {
    /// Stores a new merchant with the number `wish`, or with the one after the highest, and returns the number. If
    /// another transaction takes that number at the same time, the unique index refuses it here.
    static func insert(_ merchant: Merchant, wishing wish: Int64?, in db: any Transaction) throws -> Int64 {
        let number = try wish ?? highestNumber(in: db) + 1
        guard Merchant.numbers.contains(number) else {
            throw JSONFault("number", "given: another merchant has the highest number")
        }
        try db.execute(
            """
            INSERT INTO merchants (id, number, name, logout_reaches_backends, skips_introduction, logo_uri,
                accent_color, events_uri, mail_templates, created_at, updated_at)
            VALUES (\(merchant.id), \(number), \(merchant.name), \(merchant.logoutReachesBackends),
                \(merchant.skipsIntroduction), \(merchant.logoURI), \(merchant.accentColor), \(merchant.eventsURI),
                \(merchant.mailTexts?.stored), \(merchant.createdAt), \(merchant.updatedAt))
            ON CONFLICT DO NOTHING
            """)
        // Asked again, because the transaction may run again after a COMMIT of unknown outcome.
        let stored: Int64? = try db.rows("SELECT number FROM merchants WHERE id = \(merchant.id)").first?.get("number")
        guard let stored else { throw JSONFault("number", "a number that no other merchant has") }
        return stored
    }

    /// The highest number that any merchant has or had.
    private static func highestNumber(in db: any Transaction) throws -> Int64 {
        try db.rows(
            """
            SELECT MAX(number) AS number FROM merchants
            UNION ALL SELECT MAX(CAST(name AS BIGINT)) AS number FROM taken WHERE kind = 'merchant_number'
            """
        ).compactMap { try $0.get("number", as: Int64?.self) }.max() ?? 0
    }

    /// Reserves the number of a merchant before its deletion: SPiD's API tells it to other merchants' clients. Only the
    /// platform may give it to another.
    static func keepNumber(of id: Merchant.ID, at now: Timestamp, in db: any Transaction) throws {
        try TakenNames.take(
            .merchantNumber,
            "SELECT CAST(number AS TEXT) AS name, id AS merchant_id FROM merchants WHERE id = \(id)", at: now, in: db)
    }

    /// Reserves the name of a merchant before it changes or is deleted: users know the merchant by it. Another merchant
    /// gets it only from the platform.
    static func keepName(of id: Merchant.ID, at now: Timestamp, in db: any Transaction) throws {
        try TakenNames.take(
            .merchant, "SELECT name, id AS merchant_id FROM merchants WHERE id = \(id)", at: now, in: db)
    }

    /// The most former names that are reserved for a merchant before only the platform may rename it.
    private static let mostNames = 100

    /// Throws when more are reserved for `id`.
    static func confirmNames(of id: Merchant.ID, in db: any Transaction) throws {
        guard try TakenNames.has(moreThan: mostNames, .merchant, of: id, in: db) else { return }
        throw JSONFault(
            "name", "left as it is: \(mostNames) former names of yours are reserved, so ask the platform for another")
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
