import Cryptography
import Keys
public import Storage
public import Values

/// A message that must reach another server, however long that is down: a mail, a text message, a callback or a notice.
///
/// Its id is made outside the transaction, so that a transaction that runs twice stores it once.
public struct Delivery: Sendable {
    public typealias ID = Identifier<Delivery>

    /// The kind of a delivery, which decides its transport.
    public enum Kind: String, Sendable, CaseIterable { case mail, callback, notice, text }

    /// The part of the workers that a delivery may use, so that one receiver's trouble does not affect others.
    public struct Share: Sendable, Hashable {
        let text: String

        public init(_ text: String) { self.text = text }

        /// For everything without a share of its own.
        public static let common = Share("")
        /// Text messages, all of which go to one gateway.
        static let texts = Share("texts")

        /// The urgent part of the share, which goes before the rest.
        var urgent: Share { isUrgent ? self : Share(text + "!") }
        var isUrgent: Bool { text.utf8.last == UInt8(ascii: "!") }
        /// The share without regard to urgency.
        var whole: Share { isUrgent ? Share(String(text.dropLast())) : self }
    }

    /// Whom a delivery tells about whom, and what. It keeps a thousand changes of one thing from delaying other
    /// deliveries.
    public struct Topic: Sendable {
        /// A newer delivery with the same content replaces one that waits and has not been attempted.
        let content: String?
        /// A few of each subject wait at a time (`DeliveryLimits`); further ones are due one after the other. Nil for
        /// what must not wait: flooding a subject would delay it.
        let subject: String?
        /// The time between further ones.
        let pause: Duration
        /// Whether it goes before everything of its share that is not urgent.
        let isUrgent: Bool

        public init(subject: String, content: String, isUrgent: Bool) {
            self.content = Self.fingerprint("\(subject) \(content)")
            self.subject = isUrgent ? nil : Self.fingerprint(subject)
            pause = DeliveryLimits.pauseOfSubject
            self.isUrgent = isUrgent
        }

        /// Notices are never merged, because each names its session: they can only be sent one after the other.
        public init(noticesAbout subject: String) {
            content = nil
            self.subject = Self.fingerprint("notice \(subject)")
            pause = DeliveryLimits.pauseOfNotices
            isUrgent = false
        }

        private static func fingerprint(_ text: String) -> String { Base64URL.encode(Digest.sha256(text.utf8)) }
    }

    public let id: ID
    public let kind: Kind
    /// When the delivery becomes useless.
    public let expiresAt: Timestamp
    let share: Share
    let topic: Topic?
    /// The fingerprint of its address or number; nil for a callback or notice.
    let recipient: String?
    public let createdAt: Timestamp
    let sealedContent: String
    let seal: Seal

    /// The same delivery, already expired: stored alike, never sent, and deleted by retention.
    public var blank: Delivery {
        Delivery(
            id: id, kind: kind, expiresAt: createdAt, share: share, topic: topic, recipient: recipient,
            createdAt: createdAt, sealedContent: sealedContent, seal: seal)
    }

    /// A blank delivery is due later, out of the way of real ones.
    private var dueAt: Timestamp { createdAt < expiresAt ? createdAt : createdAt + Outbox.lease }

    /// Stores it in `db`, to be sent once the transaction is committed. May run twice.
    public func store(in db: any Transaction) throws {
        try seal.confirm(in: db)
        let dueAt = try turn(in: db)
        try db.execute(
            """
            INSERT INTO deliveries (id, kind, share, subject, topic, recipient, sealed_content, attempts, due_at,
                created_at, expires_at)
            VALUES (\(id), \(kind.rawValue), \(share.text), \(topic?.subject), \(topic?.content), \(recipient),
                \(sealedContent), 0, \(dueAt), \(createdAt), \(expiresAt))
            ON CONFLICT (id) DO NOTHING
            """)
    }

    /// When it is due, after deleting deliveries of the same topic that have not been attempted. One that is being sent
    /// stays, because it may tell the state before this change.
    private func turn(in db: any Transaction) throws -> Timestamp {
        // Stored already, by a transaction that runs again: what came since must stay.
        guard let topic, try db.rows("SELECT id FROM deliveries WHERE id = \(id)").isEmpty else { return dueAt }
        let replaced = try topic.content.flatMap { content in
            try db.rows("DELETE FROM deliveries WHERE topic = \(content) AND attempts = 0 RETURNING due_at")
                .map { try $0.get("due_at", as: Timestamp.self) }.min()
        }
        // Urgent deliveries tell a state, and the newest must be sent last, so it does not inherit an older one's turn.
        guard let subject = topic.subject else { return dueAt }
        if let replaced = try replaced ?? forgotten(of: subject, in: db) { return replaced }
        let waiting = try db.rows(
            """
            SELECT due_at FROM deliveries WHERE subject = \(subject) AND attempts = 0
            ORDER BY due_at DESC LIMIT \(DeliveryLimits.mostOfOneSubject)
            """
        ).map { try $0.get("due_at", as: Timestamp.self) }
        guard waiting.count == DeliveryLimits.mostOfOneSubject, let last = waiting.first else { return dueAt }
        return max(dueAt, last + topic.pause)
    }

    /// Deletes the oldest delivery of `subject` if the limit is reached, and returns its turn if it had not been
    /// attempted, so that flooding a subject does not push the last turn further away.
    private func forgotten(of subject: String, in db: any Transaction) throws -> Timestamp? {
        let waiting: Int64 =
            try db.rows("SELECT COUNT(*) AS many FROM deliveries WHERE subject = \(subject)").first?.get("many") ?? 0
        guard waiting >= DeliveryLimits.mostKeptOfOneSubject else { return nil }
        let oldest = try db.rows(
            """
            DELETE FROM deliveries WHERE id = (
                SELECT id FROM deliveries WHERE subject = \(subject) ORDER BY created_at, id LIMIT 1)
            RETURNING due_at, attempts
            """
        ).first
        return try oldest?.get("attempts", as: Int64.self) == 0 ? oldest?.get("due_at") : nil
    }
}
