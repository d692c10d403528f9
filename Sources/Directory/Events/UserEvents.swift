public import Cryptography
public import Storage
public import Values

/// What happens to users, and who acts on it.
///
/// Code that changes a user says so in the transaction of the change; each subscriber acts in that transaction, in the
/// order of the list. The list is made in one place, `UserEvents+subscribers.swift` of Server.
public struct UserEvents: Sendable {
    public let subscribers: [Subscriber]
    private let random: any RandomSource

    public init(_ subscribers: [Subscriber], random: any RandomSource) {
        self.subscribers = subscribers
        self.random = random
    }

    /// For events that are said in a transaction of the caller's. Made outside of it: a transaction may run twice.
    public func announcement(at now: Timestamp) -> Announcement {
        Announcement(to: subscribers, at: now, origin: random.bytes(16))
    }

    /// Says one event in a transaction whose end the caller does not see: no `afterCommit` runs, so that what it would
    /// have started comes with the next round of the delivery.
    public func say(_ event: UserEvent, _ user: UserID, at now: Timestamp, in db: any Transaction) throws {
        try announcement(at: now).say(event, user, db)
    }

    /// Runs `work` in a transaction of `database`, and after its commit what the subscribers do then.
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
