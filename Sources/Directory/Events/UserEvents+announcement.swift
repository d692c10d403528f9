public import Storage
import Synchronization
public import Values

extension UserEvents {
    /// The events of one transaction, on their way to the subscribers.
    public final class Announcement: Sendable {
        public let now: Timestamp
        /// 16 random bytes, drawn before the transaction. Ids made of them stay the same when it runs again.
        public let origin: [UInt8]
        private let subscribers: [Subscriber]
        /// Which of the subscribers have acted.
        private let acted = Mutex<Set<Int>>([])

        init(to subscribers: [Subscriber], at now: Timestamp, origin: [UInt8]) {
            self.subscribers = subscribers
            self.now = now
            self.origin = origin
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
