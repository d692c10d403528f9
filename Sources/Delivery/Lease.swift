import Mail
import Storage
import Values

/// A delivery whose next attempt is ours until the lease ends.
struct Lease: Sendable {
    let id: Delivery.ID
    let kind: Delivery.Kind
    let sealedContent: String
    /// Including this one.
    let attempt: Int
    let createdAt: Timestamp
    let expiresAt: Timestamp
    let leaseEnd: Timestamp

    static let columns: SQL.Columns = "id, sealed_content, attempts, created_at, expires_at"

    var messageID: MessageID { MessageID(id: id.text, date: createdAt) }

    init(_ row: Row, _ kind: Delivery.Kind, leaseEnd: Timestamp) throws {
        id = try row.get("id")
        self.kind = kind
        sealedContent = try row.get("sealed_content")
        attempt = try row.get("attempts") + 1
        createdAt = try row.get("created_at")
        expiresAt = try row.get("expires_at")
        self.leaseEnd = leaseEnd
    }
}

extension Outbox {
    /// Leases up to `most` due deliveries of `kind`, the most overdue first; blank ones are left out.
    func claim(_ kind: Delivery.Kind, most: Int) async throws -> [Lease] {
        let now = clock.now
        let due = try await database.read { db in
            try db.rows(
                """
                SELECT \(Lease.columns) FROM deliveries
                WHERE due_at <= \(now) AND kind = \(kind.rawValue) AND created_at < expires_at
                ORDER BY due_at LIMIT \(most)
                """
            ).map { try Lease($0, kind, leaseEnd: now + Self.lease) }
        }
        guard !due.isEmpty else { return [] }
        return try await database.write { db in
            // Another node that saw the same delivery changes no row. If this runs again after a COMMIT of unknown
            // outcome, we change none either: then these deliveries wait until their leases end.
            try due.filter { claim in
                try db.execute(
                    """
                    UPDATE deliveries SET due_at = \(claim.leaseEnd), attempts = attempts + 1
                    WHERE id = \(claim.id) AND due_at <= \(now)
                    """) == 1
            }
        }
    }

    /// Deletes a delivery that was accepted or given up.
    func remove(_ claim: Lease) async throws {
        try await database.write { db in try db.execute("DELETE FROM deliveries WHERE id = \(claim.id)") }
    }

    /// Postpones the next attempt to `moment`, unless another node has the lease by now.
    func postpone(_ claim: Lease, until moment: Timestamp) async throws {
        try await database.write { db in
            try db.execute(
                "UPDATE deliveries SET due_at = \(moment) WHERE id = \(claim.id) AND due_at = \(claim.leaseEnd)")
        }
    }

    /// The same for a delivery that was not tried, so the attempt does not count.
    func hold(_ claim: Lease, until moment: Timestamp) async throws {
        try await database.write { db in
            try db.execute(
                """
                UPDATE deliveries SET due_at = \(moment), attempts = attempts - 1
                WHERE id = \(claim.id) AND due_at = \(claim.leaseEnd)
                """)
        }
    }
}
