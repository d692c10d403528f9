public import Storage
public import Values

/// How others hear of what happens to people: this module knows neither clients nor post.
public struct UserEvents: Sendable {
    /// What is said of one change, in its transaction, and sent after the commit. Said again by a transaction that runs
    /// twice, it is said once.
    public struct Announcement: Sendable {
        package let say: @Sendable (UserEvent, UserID, any Transaction) throws -> Void
        /// Said after the commit.
        public let send: @Sendable () -> Void

        public init(
            say: @escaping @Sendable (UserEvent, UserID, any Transaction) throws -> Void,
            send: @escaping @Sendable () -> Void
        ) {
            self.say = say
            self.send = send
        }
    }

    let announcement: @Sendable (Timestamp) -> Announcement

    public init(_ announcement: @escaping @Sendable (Timestamp) -> Announcement) {
        self.announcement = announcement
    }

    /// Writes to `database` what there may be news of.
    package func write<Value: Sendable>(
        to database: any Database, at now: Timestamp,
        _ work: @escaping @Sendable (any Transaction, Announcement) throws -> Value
    ) async throws -> Value {
        let announcement = announcement(now)
        let value = try await database.write { db in try work(db, announcement) }
        announcement.send()
        return value
    }
}
