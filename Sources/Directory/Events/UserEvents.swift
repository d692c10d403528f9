public import Audit
public import Cryptography
public import Storage
import Synchronization
public import Values

/// What happens to users, and who acts on it.
///
/// Code that changes a user publishes an event in the same transaction; each subscriber acts in that transaction, in
/// the order of the list. The list is in one place, `Composition.swift` of Server.
public struct UserEvents: Sendable {
    public let subscribers: [Subscriber]
    private let random: any RandomSource

    public init(_ subscribers: [Subscriber], random: any RandomSource) {
        self.subscribers = subscribers
        self.random = random
    }

    /// For events of a transaction that the caller owns. Made outside it, because a transaction may run twice.
    /// - Parameter actor: who acts; nil for the user.
    public func announcement(at now: Timestamp, by actor: Actor? = nil) -> Announcement {
        Announcement(to: subscribers, at: now, by: actor, origin: random.bytes(16))
    }

    /// Publishes one event in a transaction whose end the caller does not see. No `afterCommit` runs, so its work comes
    /// with the next round of the delivery.
    public func say(
        _ event: UserEvent, _ user: UserID, at now: Timestamp, by actor: Actor? = nil, in db: any Transaction
    ) throws {
        try announcement(at: now, by: actor).say(event, user, db)
    }

    /// Runs `work` in a transaction of `database`; after its commit, runs what the subscribers do then.
    package func write<Value: Sendable>(
        to database: any Database, at now: Timestamp, by actor: Actor? = nil,
        _ work: @escaping @Sendable (any Transaction, Announcement) throws -> Value
    ) async throws -> Value {
        let announcement = announcement(at: now, by: actor)
        let value = try await database.write { db in try work(db, announcement) }
        announcement.send()
        return value
    }
}

extension UserEvents {
    /// The events of one transaction, on their way to the subscribers.
    public final class Announcement: Sendable {
        public let now: Timestamp
        /// 16 random bytes, drawn before the transaction. Ids made of them stay the same when it runs again.
        public let origin: [UInt8]
        private let subscribers: [Subscriber]
        /// Which of the subscribers have acted.
        private let acted = Mutex<Set<Int>>([])

        private let trail: AuditTrail
        private let actor: Actor?

        init(to subscribers: [Subscriber], at now: Timestamp, by actor: Actor?, origin: [UInt8]) {
            self.subscribers = subscribers
            self.actor = actor
            trail = AuditTrail(by: actor ?? Actor(.anonymous), at: now, seed: origin)
            self.now = now
            self.origin = origin
        }

        /// Where events on `user` are stored. Who acts is the user, unless another one is known.
        public func trail(of user: UserID) -> AuditTrail {
            if actor != nil { return trail }
            return trail.by(Actor(trail.isOfRequest ? .user(user) : .server))
        }

        /// Lets every subscriber act on `event`, in its transaction.
        public func say(_ event: UserEvent, _ user: UserID, _ db: any Transaction) throws {
            for (index, subscriber) in subscribers.enumerated() {
                for reaction in subscriber.reactions where reaction.kind == event.kind {
                    try reaction.act(event, user, self, db)
                    _ = acted.withLock { $0.insert(index) }
                }
            }
        }

        /// To be called after the commit.
        public func send() {
            for index in acted.withLock({ $0 }).sorted() { subscribers[index].afterCommit() }
        }
    }
}

extension UserEvents {
    /// A part of the program that acts on what happens to users.
    public struct Subscriber: Sendable {
        public let name: String
        public let reactions: [Reaction]
        let afterCommit: @Sendable () -> Void

        /// - Parameter afterCommit: called after the commit of a transaction in which one of `reactions` acted.
        public init(_ name: String, _ reactions: [Reaction], afterCommit: @escaping @Sendable () -> Void = {}) {
            self.name = name
            self.reactions = reactions
            self.afterCommit = afterCommit
        }
    }

    /// What a subscriber does about one kind of event.
    public struct Reaction: Sendable {
        public typealias Act =
            @Sendable (UserEvent, UserID, _ announcement: Announcement, _ db: any Transaction) throws -> Void

        public let kind: UserEvent.Kind
        /// What it does, as docs/architecture.md lists it.
        public let summary: String
        let act: Act

        /// Acts on every event of `kind`, in its transaction, which may run twice.
        public static func on(_ kind: UserEvent.Kind, _ summary: String, act: @escaping Act) -> Reaction {
            Reaction(kind: kind, summary: summary, act: act)
        }
    }
}
