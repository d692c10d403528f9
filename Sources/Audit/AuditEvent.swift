import Cryptography
public import JSON
import Storage
public import Values

/// Something that was done, by whom, to what and from where: a row of `events`.
///
/// What may name a person stands in `details` alone, of which the chain holds a salted hash: erasing a user takes them
/// out of the rows and leaves the chain whole.
public struct AuditEvent: Sendable {
    public typealias ID = Identifier<AuditEvent>

    /// What was done, by the names that `GET /admin/v1/events` shows.
    public struct Kind: Sendable, Hashable, ExpressibleByStringLiteral {
        public let text: String
        public init(stringLiteral text: String) { self.text = text }
        public init(_ text: String) { self.text = text }
    }

    public enum Outcome: String, Sendable {
        case success, refused
    }

    public let id: ID
    public let time: Timestamp
    public let kind: Kind
    public let actor: Party
    public let subject: Party?
    /// The user that it concerns, and whose person its details may name.
    public let user: UserID?
    /// The merchant that may see it; nil for the platform alone.
    public let merchant: String?
    public let client: String?
    public let outcome: Outcome
    /// The word that the log has for a refusal.
    public let reason: String?
    public let requestID: String?
    /// How many equal ones it stands for.
    public let count: Int64
    /// Address, user agent, and values before and after: gone once the user is erased.
    public let details: JSON?

    /// The document in the copy of a user's data: without the addresses of others.
    var jsonForUser: JSON {
        guard let user, actor != .user(user) else { return json }
        return .object((json.members ?? []).filter { actor.kind == .anonymous || $0.name != "address" })
    }

    /// The document of administration.
    public var json: JSON {
        .members([
            "id": .string(id.text), "time": .string(time.rfc3339), "type": .string(kind.text),
            "actor": actor.json, "subject": subject?.json, "merchant_id": merchant.map(JSON.string),
            "client_id": client.map(JSON.string), "address": details?["address"],
            "user_agent": details?["user_agent"], "request_id": requestID.map(JSON.string),
            "outcome": .string(outcome.rawValue), "reason": reason.map(JSON.string),
            "count": count == 1 ? nil : .integer(count), "before": details?["before"], "after": details?["after"],
            "detail": details?["detail"],
        ])
    }
}

extension AuditEvent {
    static let columns: SQL.Columns = """
        events.id, events.at, events.type, events.actor_type, events.actor_id, events.subject_type, \
        events.subject_id, events.user_id, events.merchant_id, events.client_id, events.outcome, events.reason, \
        events.request_id, events.count, events.details
        """

    init(_ row: Row) throws {
        let subject = try row.get("subject_type", as: String?.self).flatMap(Party.Kind.init)
        let details: String? = try row.get("details")
        self.init(
            id: try row.get("id"), time: try row.get("at"), kind: Kind(try row.get("type")),
            actor: Party(Party.Kind(rawValue: try row.get("actor_type")) ?? .anonymous, try row.get("actor_id")),
            subject: try subject.map { Party($0, try row.get("subject_id")) },
            user: try row.get("user_id"),
            merchant: try row.get("merchant_id"), client: try row.get("client_id"),
            outcome: Outcome(rawValue: try row.get("outcome")) ?? .refused, reason: try row.get("reason"),
            requestID: try row.get("request_id"), count: try row.get("count"),
            details: details.flatMap { try? JSON(stored: $0) })
    }

    /// Stores it in the caller's transaction. Storing it again changes nothing.
    func store(saltedBy salt: [UInt8], in db: any Transaction) throws {
        let salt = Hexadecimal.encode(salt)
        let concerned = user ?? (subject?.user ?? actor.user)
        let details = details?.text ?? ""
        try db.enqueue(
            """
            INSERT INTO events (id, at, type, actor_type, actor_id, subject_type, subject_id, user_id, merchant_id,
                client_id, outcome, reason, request_id, count, details, salt, details_hash)
            VALUES (\(id), \(time), \(kind.text), \(actor.kind.rawValue), \(actor.id), \(subject?.kind.rawValue),
                \(subject?.id), \(concerned), \(merchant), \(client), \(outcome.rawValue), \(reason), \(requestID),
                \(count), \(details), \(salt), \(Self.hash(of: details, saltedBy: salt)))
            ON CONFLICT (id) DO NOTHING
            """)
    }

    static func hash(of details: String, saltedBy salt: String) -> String {
        Hexadecimal.encode(Digest.sha256((salt + details).utf8))
    }
}
