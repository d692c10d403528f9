import Cryptography
import Keys
public import Storage
public import Values

/// A message that must reach another server, however long that is down: a mail, a callback or a notice.
///
/// Its id is made outside the transaction, so that a transaction that runs twice stores it once.
public struct Delivery: Sendable {
    public typealias ID = Identifier<Delivery>

    /// The kind of a delivery, which decides its transport.
    public enum Kind: String, Sendable, CaseIterable { case mail, callback, notice }

    /// Whose part of the workers a delivery takes, so that one receiver's trouble leaves the others theirs.
    public struct Share: Sendable, Hashable {
        let text: String

        public init(_ text: String) { self.text = text }

        /// Everything that has no share of its own.
        public static let common = Share("")
    }

    /// What a delivery tells whom about whom. While one waits that has not been tried, a newer one of the same topic
    /// takes its place: whoever repeats a change a thousand times makes one delivery, not a pile before all others.
    public struct Topic: Sendable {
        let fingerprint: String

        public init(_ text: String) { fingerprint = Base64URL.encode(Digest.sha256(text.utf8)) }
    }

    public let id: ID
    public let kind: Kind
    /// When the delivery becomes useless.
    public let expiresAt: Timestamp
    let share: Share
    let topic: Topic?
    let createdAt: Timestamp
    let sealedContent: String
    let seal: Seal

    /// The same delivery, already expired: stored alike, never sent, and deleted by retention.
    public var blank: Delivery {
        Delivery(
            id: id, kind: kind, expiresAt: createdAt, share: share, topic: topic, createdAt: createdAt,
            sealedContent: sealedContent, seal: seal)
    }

    /// A blank delivery is due later, out of the way of real ones.
    private var dueAt: Timestamp { createdAt < expiresAt ? createdAt : createdAt + Outbox.lease }

    /// Stores it in `db`, to be sent once the transaction is committed. May run again.
    public func store(in db: any Transaction) throws {
        try seal.confirm(in: db)
        let dueAt = try replaceWaiting(in: db) ?? dueAt
        try db.execute(
            """
            INSERT INTO deliveries (id, kind, share, topic, sealed_content, attempts, due_at, created_at, expires_at)
            VALUES (\(id), \(kind.rawValue), \(share.text), \(topic?.fingerprint), \(sealedContent), 0,
                \(dueAt), \(createdAt), \(expiresAt))
            ON CONFLICT (id) DO NOTHING
            """)
    }

    /// Deletes deliveries of the same topic that have not been tried, and returns when the first of them was due: its
    /// turn is kept. A delivery on its way stays, because it may tell what was true before this change.
    private func replaceWaiting(in db: any Transaction) throws -> Timestamp? {
        guard let topic else { return nil }
        return try db.rows(
            "DELETE FROM deliveries WHERE topic = \(topic.fingerprint) AND attempts = 0 RETURNING due_at"
        ).map { try $0.get("due_at", as: Timestamp.self) }.min()
    }
}
