import Cryptography
public import Storage
public import Values

/// What administration sees of deliveries, and does with them. Never what they say.
extension Outbox {
    /// How long a delivery that was given up is kept.
    static let memoryOfFailed: Duration = .days(3)
    /// Of the reason why it was, in bytes.
    static let longestError = 500

    public enum State: String, Sendable, CaseIterable { case waiting, failed }

    /// A delivery that waits for an attempt, or was given up.
    public struct Item: Sendable {
        public let id: Delivery.ID
        public let kind: Delivery.Kind
        public let attempts: Int
        public let dueAt: Timestamp
        public let createdAt: Timestamp
        public let expiresAt: Timestamp
        public let failedAt: Timestamp?
        public let error: String?

        public var state: State { failedAt == nil ? .waiting : .failed }

        fileprivate init(_ row: Row) throws {
            id = try row.get("id")
            kind = Delivery.Kind(rawValue: try row.get("kind")) ?? .mail
            attempts = try row.get("attempts")
            dueAt = try row.get("due_at")
            createdAt = try row.get("created_at")
            expiresAt = try row.get("expires_at")
            failedAt = try row.get("failed_at")
            error = try row.get("error")
        }
    }

    private static let columns: SQL.Columns =
        "id, kind, attempts, due_at, created_at, expires_at, failed_at, error"

    /// The place of a delivery in a list.
    public struct Place: Sendable {
        public let failedAt: Timestamp
        public let id: Delivery.ID

        public init(failedAt: Timestamp = Timestamp(milliseconds: 0), id: Delivery.ID) {
            self.failedAt = failedAt
            self.id = id
        }
    }

    /// At most `count` deliveries in `state` after `place`: those that wait the oldest first, those that failed by the
    /// time of that. Blank ones are left out.
    public func list(_ state: State, after place: Place?, count: Int) async throws -> [Item] {
        let now = clock.now
        let part: SQL =
            switch state {
            case .waiting:
                """
                failed_at IS NULL AND created_at < expires_at AND expires_at > \(now) AND id > \(place?.id.text ?? "")
                ORDER BY id
                """
            case .failed:
                """
                failed_at IS NOT NULL
                    AND (failed_at, id) > (\(place?.failedAt ?? Timestamp(milliseconds: 0)), \(place?.id.text ?? ""))
                ORDER BY failed_at, id
                """
            }
        return try await database.scan(for: .platform) { db in
            try db.rows("SELECT \(Self.columns) FROM deliveries WHERE \(part) LIMIT \(count)").map(Item.init)
        }
    }

    /// The mails and text messages to these addresses and numbers that wait or failed, or only those in the share of
    /// one merchant. Blank ones are left out.
    public func list(to recipients: [String], share: Delivery.Share?) async throws -> [Item] {
        guard !recipients.isEmpty else { return [] }
        let now = clock.now
        return try await database.read { db in
            try db.rows(
                """
                SELECT \(Self.columns) FROM deliveries
                WHERE \(Self.go(to: recipients, share)) AND created_at < expires_at
                    AND (failed_at IS NOT NULL OR expires_at > \(now))
                ORDER BY id
                """
            ).map(Item.init)
        }
    }

    /// Deletes the delivery `id`, or all, to these addresses and numbers. Returns how many. `work` is done in the same
    /// transaction if there was one, and may refuse it.
    public func drop(
        _ id: Delivery.ID?, to recipients: [String], share: Delivery.Share?,
        doing work: @escaping @Sendable (any Transaction) throws -> Void
    ) async throws -> Int {
        guard !recipients.isEmpty else { return 0 }
        let one: SQL = id.map { "id = \($0)" } ?? .always
        return try await database.write { db in
            let count = try db.execute(
                """
                DELETE FROM deliveries
                WHERE \(Self.go(to: recipients, share)) AND created_at < expires_at AND \(one)
                """)
            if count > 0 { try work(db) }
            return count
        }
    }

    private static func go(to recipients: [String], _ share: Delivery.Share?) -> SQL {
        let ofShare: SQL = share.map { "share IN (\($0.text), \($0.urgent.text))" } ?? .always
        return "recipient IN (\(list: recipients.map(mark))) AND \(ofShare)"
    }

    static func mark(_ recipient: String) -> String { Base64URL.encode(Digest.sha256("to \(recipient)".utf8)) }

    /// Deletes a delivery. False if there is none.
    public func drop(
        _ id: Delivery.ID, doing work: @escaping @Sendable (any Transaction) throws -> Void
    ) async throws -> Bool {
        try await database.write { db in
            let isGone = try db.execute("DELETE FROM deliveries WHERE id = \(id) AND created_at < expires_at") == 1
            if isGone { try work(db) }
            return isGone
        }
    }

    public enum Retry: Sendable {
        case done
        case unknown
        /// It would come too late, for example with a code that has expired.
        case useless
    }

    /// Makes a delivery due now, whether it waits or failed. Its attempts are counted anew.
    public func retry(
        _ id: Delivery.ID, doing work: @escaping @Sendable (any Transaction) throws -> Void
    ) async throws -> Retry {
        let now = clock.now
        let retry = try await database.write { db -> Retry in
            let row = try db.rows("SELECT expires_at FROM deliveries WHERE id = \(id) AND created_at < expires_at")
                .first
            guard let row else { return .unknown }
            guard try row.get("expires_at", as: Timestamp.self) > now else { return .useless }
            try work(db)
            try db.execute(
                """
                UPDATE deliveries SET failed_at = NULL, error = NULL, due_at = \(now),
                    attempts = CASE WHEN failed_at IS NULL THEN attempts ELSE 0 END
                WHERE id = \(id)
                """)
            return .done
        }
        nudge()
        return retry
    }

    /// How many deliveries wait, and how many failed.
    public static func count(_ state: State, at now: Timestamp, in db: any Transaction) throws -> Int {
        let which: SQL =
            switch state {
            case .waiting: "failed_at IS NULL AND created_at < expires_at AND expires_at > \(now)"
            case .failed: "failed_at IS NOT NULL"
            }
        return try db.rows("SELECT COUNT(*) AS number FROM deliveries WHERE \(which)").first?.get("number") ?? 0
    }
}
