import Keys
import Mail
import Storage
import Values

/// A delivery whose next attempt is ours until the lease ends.
struct Lease: Sendable {
    let id: Delivery.ID
    let kind: Delivery.Kind
    let share: Delivery.Share
    let sealedContent: String
    /// Including this one.
    let attempt: Int
    let createdAt: Timestamp
    let expiresAt: Timestamp
    let leaseEnd: Timestamp

    static let columns: SQL.Columns = "id, share, sealed_content, attempts, created_at, expires_at"

    var messageID: MessageID { MessageID(id: id.text, date: createdAt) }

    init(_ row: Row, _ kind: Delivery.Kind, leaseEnd: Timestamp) throws {
        id = try row.get("id")
        self.kind = kind
        share = Delivery.Share(try row.get("share"))
        sealedContent = try row.get("sealed_content")
        attempt = try row.get("attempts") + 1
        createdAt = try row.get("created_at")
        expiresAt = try row.get("expires_at")
        self.leaseEnd = leaseEnd
    }
}

extension Outbox {
    /// Leases due deliveries of `kind`, as many as `room` has. Shares with the fewest running deliveries come first;
    /// within a share, urgent and then the most overdue ones. Blank ones are left out.
    func claim(_ kind: Delivery.Kind, _ room: DeliveryRoom) async throws -> [Lease] {
        let now = clock.now
        let due = try await database.read { db in
            var room = room
            var due: [Lease] = []
            for share in room.inTurn(try Self.dueShares(kind, at: now, in: db)) {
                let most = min(room.free, room.free(for: share))
                guard most > 0 else { continue }
                let rows = try db.rows(
                    """
                    SELECT \(Lease.columns) FROM deliveries
                    WHERE kind = \(kind.rawValue) AND share = \(share.text) AND due_at <= \(now)
                        AND created_at < expires_at AND failed_at IS NULL
                    ORDER BY due_at LIMIT \(most)
                    """)
                due += try rows.map { try Lease($0, kind, leaseEnd: now + Self.lease) }
                room.take(for: share, rows.count)
            }
            return due
        }
        guard !due.isEmpty else { return [] }
        return try await database.write { [seal] db in
            // Deliveries sealed under a new key are left to the nodes that have it. If another node took the same
            // delivery, no row changes. If this runs again after a COMMIT of unknown outcome, none changes either: then
            // the deliveries wait until their leases end.
            try due.filter { claim in
                try db.execute(
                    """
                    UPDATE deliveries SET due_at = \(claim.leaseEnd), attempts = attempts + 1
                    WHERE id = \(claim.id) AND due_at <= \(now) AND \(seal.isConfirmed)
                    """) == 1
            }
        }
    }

    /// The shares with something of `kind` to send, each with its most overdue time. Each costs two index steps,
    /// however much waits in it.
    private static func dueShares(
        _ kind: Delivery.Kind, at now: Timestamp, in db: any Transaction
    ) throws -> [DeliveryRoom.DueShare] {
        try db.rows(
            """
            WITH RECURSIVE shares (share) AS (
                SELECT min(share) FROM deliveries WHERE kind = \(kind.rawValue) AND failed_at IS NULL
                UNION ALL SELECT (
                    SELECT min(d.share) FROM deliveries d
                    WHERE d.kind = \(kind.rawValue) AND d.failed_at IS NULL AND d.share > shares.share)
                FROM shares WHERE shares.share IS NOT NULL)
            SELECT share, (
                SELECT d.due_at FROM deliveries d
                WHERE d.kind = \(kind.rawValue) AND d.share = shares.share AND d.due_at <= \(now)
                    AND d.created_at < d.expires_at AND d.failed_at IS NULL
                ORDER BY d.due_at LIMIT 1) AS due_at
            FROM shares WHERE share IS NOT NULL
            """
        ).compactMap { row in
            let due: Timestamp? = try row.get("due_at")
            return try due.map { .init(share: Delivery.Share(try row.get("share")), dueAt: $0) }
        }
    }

    /// Deletes a delivery that was accepted.
    func remove(_ claim: Lease) async throws {
        try await database.write { db in try db.execute("DELETE FROM deliveries WHERE id = \(claim.id)") }
    }

    /// Keeps a delivery that was given up, for some days. It no longer counts among those of its subject.
    func fail(_ claim: Lease, _ reason: String) async throws {
        let now = clock.now
        let error = reason.prefix(bytes: Self.longestError)
        try await database.write { db in
            try db.execute(
                """
                UPDATE deliveries SET failed_at = \(now), error = \(error), subject = NULL, topic = NULL
                WHERE id = \(claim.id)
                """)
        }
    }

    /// Postpones the next attempt to `moment`, unless another node has the lease by now. It is due when it expires in
    /// any case: then it is abandoned with a log line, and not deleted silently (`Outbox.table`).
    func postpone(_ claim: Lease, until moment: Timestamp) async throws {
        let moment = min(moment, max(claim.expiresAt, clock.now))
        try await database.write { db in
            guard try !isReplaced(claim, in: db) else { return }
            try db.execute(
                "UPDATE deliveries SET due_at = \(moment) WHERE id = \(claim.id) AND due_at = \(claim.leaseEnd)")
        }
    }

    /// As above for a delivery that was not attempted, so the attempt does not count.
    func hold(_ claim: Lease, until moment: Timestamp) async throws {
        let moment = min(moment, max(claim.expiresAt, clock.now))
        try await database.write { db in
            guard try !isReplaced(claim, in: db) else { return }
            try db.execute(
                """
                UPDATE deliveries SET due_at = \(moment), attempts = attempts - 1
                WHERE id = \(claim.id) AND due_at = \(claim.leaseEnd)
                """)
        }
    }

    /// Deletes a leased delivery that did not arrive, if a newer one of its topic waits. Returns whether it did.
    private func isReplaced(_ claim: Lease, in db: any Transaction) throws -> Bool {
        try db.execute(
            """
            DELETE FROM deliveries WHERE id = \(claim.id) AND due_at = \(claim.leaseEnd)
                AND EXISTS (SELECT 1 FROM deliveries d WHERE d.topic = deliveries.topic AND d.attempts = 0
                    AND d.created_at >= deliveries.created_at)
            """) == 1
    }
}
