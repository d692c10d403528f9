public import Cryptography
public import JSON
public import Storage
public import Values

/// The events of one transaction: who acts in it, when, and from where.
///
/// Made before the transaction, because that may run twice: the same trail gives equal events equal ids.
public struct AuditTrail: Sendable {
    public let actor: Actor
    public let now: Timestamp
    /// The request; nil for what a background task does.
    private let origin: (any RequestOrigin)?
    /// 16 random bytes.
    private let seed: [UInt8]

    /// - Parameters:
    ///   - seed: 16 random bytes, drawn for this transaction.
    ///   - origin: the request that it is for: that of the task, unless it was kept.
    public init(by actor: Actor, at now: Timestamp, seed: [UInt8], origin: (any RequestOrigin)? = CurrentRequest.origin)
    {
        self.actor = actor
        self.now = now
        self.seed = seed
        self.origin = origin
    }

    public init(by actor: Actor, at now: Timestamp, random: any RandomSource) {
        self.init(by: actor, at: now, seed: random.bytes(16))
    }

    /// Whether a request caused it, and not a background task.
    public var isOfRequest: Bool { origin != nil }

    /// The same trail for another one who acts.
    public func by(_ actor: Actor) -> AuditTrail {
        AuditTrail(by: actor, at: now, seed: seed, origin: origin)
    }

    /// Stores one event in the transaction `db`.
    /// - Parameters:
    ///   - user: the user that it concerns, if that is not the subject.
    ///   - merchant: the merchant that may see it; nil for that of the actor.
    ///   - before: members that changed, as they were. Never secrets.
    ///   - isAnonymous: whether it holds nothing that may name the user, because they are being erased.
    public func record(
        _ kind: AuditEvent.Kind, on subject: Party?, of user: UserID? = nil, merchant: String? = nil,
        client: String? = nil, outcome: AuditEvent.Outcome = .success, reason: String? = nil, before: JSON? = nil,
        after: JSON? = nil,
        userAgent: String? = nil, isAnonymous: Bool = false, in db: any Transaction
    ) throws {
        let label = [kind.text, subject?.kind.rawValue ?? "", subject?.id ?? "", reason ?? ""]
        let own = seed + label.joined(separator: "\n").utf8
        let details = JSON.members([
            "address": isAnonymous ? nil : (origin?.address).map(JSON.string),
            "user_agent": userAgent.map(JSON.string), "before": before?.bounded, "after": after?.bounded,
        ])
        let event = AuditEvent(
            id: .ordered(at: now, of: own), time: now, kind: kind, actor: actor.party, subject: subject, user: user,
            merchant: merchant ?? actor.merchant,
            client: client, outcome: outcome, reason: reason, requestID: origin?.requestID, count: 1,
            details: details.members?.isEmpty ?? true ? nil : details)
        try event.store(saltedBy: Array(Digest.sha256(own + "salt".utf8).prefix(16)), in: db)
    }

    /// Stores what `before` and `after` have different, and nothing when they are equal.
    /// - Parameter secrets: the members with new secrets, of which the event says only that they changed.
    public func recordChange(
        _ kind: AuditEvent.Kind, on subject: Party, merchant: String? = nil, client: String? = nil, from before: JSON,
        to after: JSON, secrets: [String] = [], in db: any Transaction
    ) throws {
        let changed = JSON.object((after.members ?? []) + secrets.map { .init($0, "changed") })
        let (old, new) = before.differences(from: changed)
        guard old != new else { return }
        try record(kind, on: subject, merchant: merchant, client: client, before: old, after: new, in: db)
    }
}

extension JSON {
    /// The document, or how long it is and its digest: one who changes long settings again and again must not fill the
    /// database.
    fileprivate var bounded: JSON {
        let bytes = bytes
        guard bytes.count > 8192 else { return self }
        return .members([
            "bytes": .integer(Int64(bytes.count)), "sha256": .string(Hexadecimal.encode(Digest.sha256(bytes))),
        ])
    }

    /// The members of both documents that differ, or that only one of them has.
    fileprivate func differences(from later: JSON) -> (JSON, JSON) {
        let isSame = { (member: Member, other: JSON) in other[member.name] == member.value }
        let ignored: Set = ["updated_at"]
        return (
            .object((members ?? []).filter { !isSame($0, later) && !ignored.contains($0.name) }),
            .object((later.members ?? []).filter { !isSame($0, self) && !ignored.contains($0.name) })
        )
    }
}
