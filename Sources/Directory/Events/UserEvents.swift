public import Cryptography
public import Storage
public import Values

/// What happens to users, and who acts on it.
///
/// Code that changes a user publishes an event in the same transaction; each subscriber acts in that transaction, in
/// the order of the list. The list is in one place, `UserEvents+subscribers.swift` of Server.
public struct UserEvents: Sendable {
    public let subscribers: [Subscriber]
    private let random: any RandomSource

    public init(_ subscribers: [Subscriber], random: any RandomSource) {
        self.subscribers = subscribers
        self.random = random
    }

    /// For events of a transaction that the caller owns. Made outside it, because a transaction may run twice.
    public func announcement(at now: Timestamp) -> Announcement {
        Announcement(to: subscribers, at: now, origin: random.bytes(16))
    }

    /// Publishes one event in a transaction whose end the caller does not see. No `afterCommit` runs, so its work comes
    /// with the next round of the delivery.
    public func say(_ event: UserEvent, _ user: UserID, at now: Timestamp, in db: any Transaction) throws {
        try announcement(at: now).say(event, user, db)
    }

    /// Runs `work` in a transaction of `database`; after its commit, runs what the subscribers do then.
    package func write<Value: Sendable>(
        to database: any Database, at now: Timestamp,
        _ work: @escaping @Sendable (any Transaction, Announcement) throws -> Value
    ) async throws -> Value {
        let announcement = announcement(at: now)
        let value = try await database.write { db in try work(db, announcement) }
        announcement.send()
        return value
    }
}
