import Cryptography
import JSON
public import Storage
public import Values

/// The hashes that chain the events, so that a missing or altered row is seen.
///
/// Rows are chained after their commit, by a background task and in one order: no request waits for another's row. Each
/// hash covers the one before it. Of what may name a person it covers a salted hash alone (`AuditEvent`).
public struct EventChain: Sendable {
    private let database: any Database
    private let clock: any WallClock
    private let forward: Forward

    /// Called for each event of a merchant, in the transaction that chains it: an event is forwarded once.
    public typealias Forward = @Sendable (_ events: [AuditEvent], _ db: any Transaction) throws -> Void

    public init(database: any Database, clock: any WallClock, forward: @escaping Forward = { _, _ in }) {
        self.database = database
        self.clock = clock
        self.forward = forward
    }

    /// How many rows are chained or deleted in one transaction.
    private static let batch = 200

    /// The place of a row in the chain.
    public struct Link: Sendable, Equatable {
        public let position: Int64
        public let hash: String

        /// `POSITION:HASH`
        public var text: String { "\(position):\(hash)" }

        init(position: Int64, hash: String) {
            self.position = position
            self.hash = hash
        }

        /// Nil unless `text` is written like that.
        public init?(_ text: String) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let position = Int64(parts[0]), parts[1].utf8.count == 64 else { return nil }
            self.init(position: position, hash: String(parts[1]))
        }
    }

    /// Chains rows that are not chained yet. Returns whether there may be more.
    ///
    /// The UPDATE of `event_chain` decides between two servers that chain at the same time.
    public func extend() async throws -> Bool {
        let hasMore = try await database.read { db in
            try !db.rows("SELECT id FROM events WHERE position IS NULL LIMIT 1").isEmpty
        }
        guard hasMore else { return false }
        return try await database.write { [forward] db in
            guard let end = try Self.end(in: db) ?? Self.begin(in: db) else { return false }
            let rows = try db.rows(
                """
                SELECT \(AuditEvent.columns), details_hash FROM events WHERE position IS NULL
                ORDER BY at, id LIMIT \(Self.batch)
                """)
            guard !rows.isEmpty else { return false }
            var link = end
            for row in rows {
                let id: AuditEvent.ID = try row.get("id")
                link = try Self.link(row, after: link)
                try db.enqueue("UPDATE events SET position = \(link.position), hash = \(link.hash) WHERE id = \(id)")
            }
            let isOurs = try db.execute(
                """
                UPDATE event_chain SET last_position = \(link.position), last_hash = \(link.hash)
                WHERE id = 1 AND last_position = \(end.position)
                """)
            guard isOurs > 0 else { throw StorageError.conflict("event_chain") }
            try forward(try rows.map(AuditEvent.init).filter { $0.merchant != nil }, db)
            return rows.count == Self.batch
        }
    }

    /// Deletes chained rows older than `age`, from the beginning, and keeps the hash that the first remaining one
    /// follows. Returns whether there may be more.
    public func shorten(keeping age: Duration) async throws -> Bool {
        let end = clock.now - age
        return try await database.write { db in
            guard let start = try Self.start(in: db) else { return false }
            let rows = try db.rows(
                """
                SELECT id, position, hash, at FROM events WHERE position > \(start.position)
                ORDER BY position LIMIT \(Self.batch)
                """)
            let old = try rows.prefix { row in try row.get("at", as: Timestamp.self) < end }
            guard let last = old.last else { return false }
            let position: Int64 = try last.get("position")
            let hash: String = try last.get("hash")
            try db.execute("DELETE FROM events WHERE position > \(start.position) AND position <= \(position)")
            try db.execute(
                """
                UPDATE event_chain SET first_position = \(position), first_hash = \(hash)
                WHERE id = 1 AND first_position = \(start.position)
                """)
            return old.count == Self.batch
        }
    }

    /// What `verify` finds.
    public enum Verdict: Sendable, Equatable {
        /// Every row follows the one before it, up to this link.
        case whole(events: Int64, end: Link)
        /// The row at this position is missing, or is not what was chained.
        case broken(at: Int64, reason: String)
    }

    /// Reads the whole chain and computes each hash again. `trusted` is a link that was noted elsewhere: with it, rows
    /// that were rewritten together with all later hashes are seen too.
    public func verify(trusted: Link? = nil) async throws -> Verdict {
        while true {
            let start = try await database.read { db in try Self.start(in: db) }
            let verdict = try await verify(after: start, trusted: trusted)
            // Old rows may have been deleted meanwhile, and seem to be missing.
            if case .whole = verdict { return verdict }
            if try await database.read({ db in try Self.start(in: db) }) == start { return verdict }
        }
    }

    private func verify(after start: Link?, trusted: Link?) async throws -> Verdict {
        let end = try await database.read { db in try Self.end(in: db) }
        guard let start, let end else {
            let hasNone = try await database.read { db in try !Self.hasLinks(in: db) }
            guard hasNone else { return .broken(at: 0, reason: "the beginning of the chain is missing") }
            return .whole(events: 0, end: Self.origin)
        }
        // Nothing tells an event that was too old from one that was taken away.
        if let trusted, trusted.position < start.position || trusted.position == start.position && trusted != start {
            return .broken(at: trusted.position, reason: "the event that was noted is not there any more")
        }
        var link = start
        var count: Int64 = 0
        while true {
            let after = link
            let rows = try await database.readAside { db in
                try db.rows(
                    """
                    SELECT \(Self.columns), position, hash, details, salt FROM events
                    WHERE position > \(after.position) ORDER BY position LIMIT 1000
                    """)
            }
            for row in rows {
                let position: Int64 = try row.get("position")
                let expected = try Self.link(row, after: link)
                guard position == expected.position else {
                    return .broken(at: expected.position, reason: "the event is missing")
                }
                guard try row.get("hash") == expected.hash else {
                    return .broken(at: position, reason: "the event was changed")
                }
                guard try Self.hasOwnDetails(row) else {
                    return .broken(at: position, reason: "the details of the event were changed")
                }
                if let trusted, trusted.position == position, trusted.hash != expected.hash {
                    return .broken(at: position, reason: "the event is not the one that was noted")
                }
                link = expected
                count += 1
            }
            if rows.isEmpty { break }
        }
        // Meanwhile the chain may have grown; it must not be shorter.
        guard link.position >= end.position else {
            return .broken(at: link.position + 1, reason: "the event is missing")
        }
        if let trusted, trusted.position > link.position {
            return .broken(at: link.position + 1, reason: "the event is missing")
        }
        return .whole(events: count, end: link)
    }

    /// Whether the details are those that the hash covers, or gone together with their salt.
    private static func hasOwnDetails(_ row: Row) throws -> Bool {
        let (details, salt): (String?, String?) = (try row.get("details"), try row.get("salt"))
        guard let details, let salt else { return details == nil && salt == nil }
        return try AuditEvent.hash(of: details, saltedBy: salt) == row.get("details_hash")
    }

    /// What a hash covers.
    private static let columns: SQL.Columns = """
        id, at, type, actor_type, actor_id, subject_type, subject_id, user_id, merchant_id, client_id, outcome, \
        reason, request_id, count, details_hash
        """

    private static func link(_ row: Row, after link: Link) throws -> Link {
        func text(_ column: String) throws -> JSON { try row.get(column, as: String?.self).map(JSON.string) ?? .null }
        let position = link.position + 1
        let covered = JSON.array([
            .string(link.hash), .integer(position), try text("id"), .integer(try row.get("at")), try text("type"),
            try text("actor_type"), try text("actor_id"), try text("subject_type"), try text("subject_id"),
            try row.get("user_id", as: Int64?.self).map { .integer($0) } ?? .null, try text("merchant_id"),
            try text("client_id"), try text("outcome"), try text("reason"),
            try text("request_id"), .integer(try row.get("count")), try text("details_hash"),
        ])
        return Link(position: position, hash: Hexadecimal.encode(Digest.sha256(covered.bytes)))
    }

    /// What the first event of all follows.
    private static let origin = Link(position: 0, hash: String(repeating: "0", count: 64))

    private static func hasLinks(in db: any Transaction) throws -> Bool {
        try !db.rows("SELECT id FROM events WHERE position IS NOT NULL LIMIT 1").isEmpty
    }

    /// Stores the beginning of a chain without links. Nil when there are links: their beginning was taken away.
    private static func begin(in db: any Transaction) throws -> Link? {
        guard try !hasLinks(in: db) else { return nil }
        try db.execute(
            """
            INSERT INTO event_chain (id, first_position, first_hash, last_position, last_hash)
            VALUES (1, 0, \(origin.hash), 0, \(origin.hash)) ON CONFLICT (id) DO NOTHING
            """)
        return origin
    }

    private static func start(in db: any Transaction) throws -> Link? {
        try db.rows("SELECT first_position, first_hash FROM event_chain WHERE id = 1").first.map { row in
            Link(position: try row.get("first_position"), hash: try row.get("first_hash"))
        }
    }

    private static func end(in db: any Transaction) throws -> Link? {
        try db.rows("SELECT last_position, last_hash FROM event_chain WHERE id = 1").first.map { row in
            Link(position: try row.get("last_position"), hash: try row.get("last_hash"))
        }
    }
}
