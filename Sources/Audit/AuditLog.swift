public import Cryptography
public import JSON
public import Storage
import Synchronization
public import Values

/// Events as they are read, and those that belong to no transaction: refusals, throttles and the fate of mails.
///
/// The latter are collected in memory and stored by a background task within a second. A flood of equal ones becomes
/// one row with a count. No caller waits for it, so that a refusal takes as long for an unknown user as for a known
/// one. A process that is killed loses those of its last second.
public final class AuditLog: Sendable {
    private let database: any Database
    private let clock: any WallClock
    private let random: any RandomSource
    private let state = Mutex(State())

    public init(database: any Database, clock: any WallClock, random: any RandomSource) {
        self.database = database
        self.clock = clock
        self.random = random
    }

    /// How many different notes wait at most: an attacker chooses addresses.
    private static let most = 500
    /// How long equal notes become one row after the first.
    public static let window: Duration = .minutes(1)

    /// What equal notes have in common.
    public struct Note: Sendable, Hashable {
        let kind: AuditEvent.Kind
        let actor: Party
        let subject: Party?
        let merchant: String?
        let client: String?
        let outcome: AuditEvent.Outcome
        let reason: String?
        let detail: String?
        let address: String?

        public init(
            _ kind: AuditEvent.Kind, by actor: Party = .anonymous, on subject: Party? = nil, merchant: String? = nil,
            client: String? = nil, outcome: AuditEvent.Outcome = .refused, reason: String? = nil,
            detail: String? = nil, address: String? = nil
        ) {
            self.kind = kind
            self.actor = actor
            self.subject = subject
            self.merchant = merchant
            self.client = client
            self.outcome = outcome
            self.reason = reason
            self.detail = detail
            self.address = address
        }

        /// What stays of a note when too many wait: where it came from is no longer told apart.
        fileprivate var outline: Note {
            Note(kind, by: actor, merchant: merchant, client: client, outcome: outcome, reason: reason)
        }
    }

    private struct State {
        var tallies: [Note: Tally] = [:]
        /// How many flushes are storing what they took.
        var flushes = 0
    }

    private struct Tally {
        var time: Timestamp
        let requestID: String?
        /// Those that no row counts yet.
        var count: Int64
        /// When the last row was stored; nil before the first.
        var storedAt: Timestamp? = nil

        var empty: Tally { Tally(time: time, requestID: requestID, count: 0) }
    }

    /// Stores one event that is no part of another change.
    public func record(
        _ kind: AuditEvent.Kind, by actor: Actor, on subject: Party? = nil, after: JSON? = nil
    ) async throws {
        let trail = AuditTrail(by: actor, at: clock.now, random: random)
        try await database.write { db in try trail.record(kind, on: subject, after: after, in: db) }
    }

    /// Notes something that happened outside a transaction.
    public func note(_ note: Note) {
        let now = clock.now
        let requestID = CurrentRequest.origin?.requestID
        state.withLock { state in
            let isKept = state.tallies[note] != nil || state.tallies.count < Self.most
            let note = isKept ? note : note.outline
            state.tallies[note, default: Tally(time: now, requestID: requestID, count: 0)].count += 1
            state.tallies[note]?.time = now
        }
    }

    /// Stores what has been noted: the first of equal notes at once, and later ones once a minute, with their count.
    /// - Parameter all: whether it is the last time, and nothing may wait.
    public func flush(all: Bool = false) async throws {
        let due = take(all: all, at: clock.now)
        defer { state.withLock { $0.flushes -= 1 } }
        for start in stride(from: 0, to: due.count, by: 100) {
            let part = due[start..<min(start + 100, due.count)].map { ($0.note, $0.tally, random.bytes(24)) }
            do {
                try await database.write { db in
                    for (note, tally, bytes) in part { try Self.store(note, tally, bytes, in: db) }
                }
            } catch {
                // Stored next time.
                for (note, tally) in due[start...] { giveBack(note, tally) }
                throw error
            }
        }
    }

    /// Whether everything that is due has been stored.
    public var isSettled: Bool {
        state.withLock { $0.flushes == 0 && $0.tallies.allSatisfy { $0.value.storedAt != nil } }
    }

    private func take(all: Bool, at now: Timestamp) -> [(note: Note, tally: Tally)] {
        state.withLock { state in
            state.flushes += 1
            var due: [(note: Note, tally: Tally)] = []
            for (note, tally) in state.tallies {
                guard all || tally.storedAt.map({ $0 + Self.window <= now }) ?? true else { continue }
                if tally.count > 0 { due.append((note, tally)) }
                if tally.count > 0, !all {
                    state.tallies[note]?.count = 0
                    state.tallies[note]?.storedAt = now
                } else {
                    state.tallies[note] = nil
                }
            }
            return due
        }
    }

    private func giveBack(_ note: Note, _ tally: Tally) {
        state.withLock { state in
            state.tallies[note, default: tally.empty].count += tally.count
            state.tallies[note]?.storedAt = tally.storedAt
        }
    }

    private static func store(_ note: Note, _ tally: Tally, _ bytes: [UInt8], in db: any Transaction) throws {
        var details = JSON.members(["detail": note.detail.map(JSON.string)]).members ?? []
        // The user may have been erased since.
        if let address = note.address, try !isErased(note.subject?.user, in: db) {
            details.append(.init("address", .string(address)))
        }
        try AuditEvent(
            id: .ordered(at: tally.time, of: bytes.prefix(8)), time: tally.time, kind: note.kind, actor: note.actor,
            subject: note.subject, user: nil, merchant: note.merchant, client: note.client, outcome: note.outcome,
            reason: note.reason, requestID: tally.requestID, count: tally.count,
            details: details.isEmpty ? nil : .object(details)
        ).store(saltedBy: Array(bytes.suffix(16)), in: db)
    }

    private static func isErased(_ user: UserID?, in db: any Transaction) throws -> Bool {
        guard let user else { return false }
        return try !db.rows("SELECT id FROM events WHERE user_id = \(user) AND type = 'user.deleted' LIMIT 1").isEmpty
    }
}

extension AuditLog {
    /// Which events are asked for.
    public struct Query: Sendable {
        public var actor: String?
        public var subject: String?
        /// The user that it concerns, as its subject or otherwise.
        public var user: UserID?
        public var kind: String?
        public var client: String?
        public var requestID: String?
        /// Only what this merchant may see; nil: all.
        public var merchant: String?

        public init() {}
    }

    /// The events that `query` asks for, the newest first, before the event `before` unless that is empty.
    public func list(_ query: Query, before: String, count: Int) async throws -> [AuditEvent] {
        try await database.readAside { db in
            let end: SQL = before.isEmpty ? "" : "AND events.id < \(before)"
            return try db.rows(
                """
                SELECT \(AuditEvent.columns) FROM events WHERE \(query.condition) \(end)
                ORDER BY events.id DESC LIMIT \(count)
                """
            ).map(AuditEvent.init)
        }
    }

    /// The last event that is chained.
    public func last() async throws -> AuditEvent.ID? {
        try await database.read { db in
            try db.rows("SELECT id FROM events WHERE position IS NOT NULL ORDER BY position DESC LIMIT 1").first?
                .get("id")
        }
    }

    /// The events that `query` asks for and that were chained after `event`, the oldest first: one who asks again with
    /// the last that was read misses none. With nil, from the beginning.
    public func list(_ query: Query, after event: AuditEvent.ID?, count: Int) async throws -> [AuditEvent]? {
        try await database.readAside { db in
            var position: Int64 = 0
            if let event {
                let row = try db.rows("SELECT position FROM events WHERE id = \(event)").first
                guard let found = try row?.get("position", as: Int64?.self) else { return nil }
                position = found
            }
            return try db.rows(
                """
                SELECT \(AuditEvent.columns) FROM events WHERE \(query.condition) AND events.position > \(position)
                ORDER BY events.position LIMIT \(count)
                """
            ).map(AuditEvent.init)
        }
    }
}

extension AuditLog.Query {
    /// Each filter is an index of its own with the id behind it.
    fileprivate var condition: SQL {
        var condition: SQL = "1 = 1"
        if let actor { condition = "\(condition) AND events.actor_id = \(actor)" }
        if let subject { condition = "\(condition) AND events.subject_id = \(subject)" }
        if let user { condition = "\(condition) AND events.user_id = \(user)" }
        if let kind { condition = "\(condition) AND events.type = \(kind)" }
        if let client { condition = "\(condition) AND events.client_id = \(client)" }
        if let requestID { condition = "\(condition) AND events.request_id = \(requestID)" }
        if let merchant { condition = "\(condition) AND events.merchant_id = \(merchant)" }
        return condition
    }
}

extension AuditLog {
    /// Rows are deleted from the beginning of the chain, by `EventChain.shorten`.
    static let table = StoredTable(
        "events",
        // A user's events stay, without what names the user.
        ofUser: .steps { user, batch, db in
            try db.execute(
                """
                UPDATE events SET details = NULL, salt = NULL
                WHERE id IN (SELECT id FROM events WHERE user_id = \(user) AND details IS NOT NULL LIMIT \(batch))
                """)
        },
        export: [
            .member("events") { user, db in
                .array(
                    try db.rows(
                        """
                        SELECT \(AuditEvent.columns) FROM events WHERE user_id = \(user)
                        ORDER BY events.id DESC LIMIT \(StoredTable.Export.most)
                        """
                    ).map { row in try AuditEvent(row).jsonForUser })
            }
        ])
    static let chain = StoredTable("event_chain")
}

extension StoredTable {
    /// The tables of this module.
    public static let ofAudit = [AuditLog.table, AuditLog.chain]
}
