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

    /// Whose part of the workers a delivery takes, so that one receiver's trouble leaves the others theirs.
    public struct Share: Sendable, Hashable {
        let text: String

        public init(_ text: String) { self.text = text }

        /// Everything that has no share of its own.
        public static let common = Share("")
        /// Text messages, all of which go to one gateway.
        static let texts = Share("texts")

        /// The part of it that goes before the rest.
        var urgent: Share { isUrgent ? self : Share(text + "!") }
        var isUrgent: Bool { text.utf8.last == UInt8(ascii: "!") }
        /// Whose part of the workers it takes.
        var whole: Share { isUrgent ? Share(String(text.dropLast())) : self }
    }

    /// Whom a delivery tells about whom, and what. Whoever changes something a thousand times must not put a pile
    /// before everybody else's.
    public struct Topic: Sendable {
        /// While a delivery waits that has not been tried, a newer one that says the same takes its place.
        let content: String?
        /// Of each subject a few wait at a time (`DeliveryLimits`); further ones are due one after the other. Nil for
        /// what must not wait: somebody who floods a subject would delay it.
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

        /// No two notices say the same, because each names its session: they can only be sent one after the other.
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
    public let createdAt: Timestamp
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
        let dueAt = try turn(in: db)
        try db.execute(
            """
            INSERT INTO deliveries (id, kind, share, subject, topic, sealed_content, attempts, due_at, created_at,
                expires_at)
            VALUES (\(id), \(kind.rawValue), \(share.text), \(topic?.subject), \(topic?.content), \(sealedContent), 0,
                \(dueAt), \(createdAt), \(expiresAt))
            ON CONFLICT (id) DO NOTHING
            """)
    }

    /// When it is due, after deliveries of the same topic that have not been tried are deleted. One that is on its way
    /// stays, because it may tell what was true before this change.
    private func turn(in db: any Transaction) throws -> Timestamp {
        // Stored already, by a transaction that runs again: whatever came since must stay.
        guard let topic, try db.rows("SELECT id FROM deliveries WHERE id = \(id)").isEmpty else { return dueAt }
        let replaced = try topic.content.flatMap { content in
            try db.rows("DELETE FROM deliveries WHERE topic = \(content) AND attempts = 0 RETURNING due_at")
                .map { try $0.get("due_at", as: Timestamp.self) }.min()
        }
        // What is urgent says a state: the last of them is sent last, so it does not take an older one's turn.
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

    /// Deletes the oldest delivery of `subject` if as many wait as may, and returns its turn if it had not been tried:
    /// so the last turn is never further away, however long somebody floods it.
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
