import Keys
public import Storage
public import Values

/// Something that must reach somebody else's server, however long that is down: a mail, a callback or a notice.
///
/// Named outside of a transaction, so that a transaction that runs twice stores it once.
public struct Delivery: Sendable {
    public typealias ID = Identifier<Delivery>

    /// What it is, and so who carries it.
    public enum Kind: String, Sendable, CaseIterable { case mail, callback, notice }

    public let id: ID
    public let kind: Kind
    /// From then on nobody has a use for it.
    public let expiresAt: Timestamp
    let createdAt: Timestamp
    let sealedContent: String
    let seal: Seal

    /// The same, of use to nobody from the start: stored alike, never carried, and forgotten by retention.
    public var blank: Delivery {
        Delivery(
            id: id, kind: kind, expiresAt: createdAt, createdAt: createdAt, sealedContent: sealedContent, seal: seal)
    }

    /// A blank one keeps out of the way of those that are due.
    private var dueAt: Timestamp { createdAt < expiresAt ? createdAt : createdAt + Outbox.lease }

    /// Leaves it in `db`, to be sent once the transaction is committed. May run again.
    public func store(in db: any Transaction) throws {
        try seal.confirm(in: db)
        try db.execute(
            """
            INSERT INTO deliveries (id, kind, sealed_content, attempts, due_at, created_at, expires_at)
            VALUES (\(id), \(kind.rawValue), \(sealedContent), 0, \(dueAt), \(createdAt), \(expiresAt))
            ON CONFLICT (id) DO NOTHING
            """)
    }
}
