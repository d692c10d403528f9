import Delivery
import Directory
public import JSON
public import Storage
import Synchronization
public import Values

/// How much there is of each thing: of the deployment, or of one merchant. Counting millions takes a while, so a count
/// is told for a minute.
public final class Counts: Sendable {
    private static let memory: Duration = .minutes(1)
    private static let mostKept = 1000

    private let database: any Database
    private let clock: any WallClock
    private let known = Mutex<[String: (json: JSON, at: Timestamp)]>([:])

    public init(database: any Database, clock: any WallClock) {
        self.database = database
        self.clock = clock
    }

    public func json(by administrator: Administrator) async throws -> JSON {
        let now = clock.now
        let place = administrator.confines?.text ?? ""
        if let known = known.withLock({ $0[place] }), (known.at..<known.at + Self.memory).contains(now) {
            return known.json
        }
        let counted = try await database.scan(for: administrator.requester) { db in
            guard let merchant = administrator.confines else { return try Self.all(at: now, in: db) }
            return try Self.all(of: merchant, administrator, in: db)
        }
        known.withLock { known in
            if known.count >= Self.mostKept { known = [:] }
            known[place] = (counted, now)
        }
        return counted
    }

    private static func number(_ sql: SQL, in db: any Transaction) throws -> JSON {
        .integer(try db.rows(sql).first?.get("number") ?? 0)
    }

    private static func all(at now: Timestamp, in db: any Transaction) throws -> JSON {
        .members([
            "users": try number("SELECT COUNT(*) AS number FROM users", in: db),
            "disabled_users": try number(
                "SELECT COUNT(*) AS number FROM users WHERE disabled_at IS NOT NULL", in: db),
            "leaving_users": try number(
                "SELECT COUNT(*) AS number FROM users WHERE deletion_due_at IS NOT NULL", in: db),
            "merchants": try number("SELECT COUNT(*) AS number FROM merchants WHERE deleted_at IS NULL", in: db),
            "clients": try number("SELECT COUNT(*) AS number FROM clients WHERE deleted_at IS NULL", in: db),
            "issuers": try number("SELECT COUNT(*) AS number FROM issuer_settings", in: db),
            "sessions": try number(
                "SELECT COUNT(*) AS number FROM sessions WHERE expires_at > \(now) AND ended_at IS NULL", in: db),
            "deliveries_waiting": .integer(Int64(try Outbox.count(.waiting, at: now, in: db))),
            "deliveries_failed": .integer(Int64(try Outbox.count(.failed, at: now, in: db))),
        ])
    }

    private static func all(
        of merchant: Merchant.ID, _ administrator: Administrator, in db: any Transaction
    ) throws -> JSON {
        .members([
            "users": try number(
                """
                SELECT COUNT(DISTINCT n.user_id) AS number FROM connections n
                WHERE \(administrator.reaches("n.client_id"))
                """, in: db),
            "clients": try number(
                """
                SELECT COUNT(*) AS number FROM clients WHERE merchant_id = \(merchant) AND deleted_at IS NULL
                """, in: db),
            "issuers": try number(
                "SELECT COUNT(*) AS number FROM issuer_settings WHERE merchant_id = \(merchant)", in: db),
        ])
    }
}
