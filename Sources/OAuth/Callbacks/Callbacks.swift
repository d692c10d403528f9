public import Cryptography
public import Directory
public import Keys
public import Storage
public import Values

/// Tells a user's clients, at their `callback_uri`, what happened to that user: signed as SPiD does.
public struct Callbacks: Sendable {
    /// The delivery of messages to their receivers.
    public struct Post: Sendable {
        let leave: @Sendable (Message, any Transaction) throws -> Void
        let leaveNotice: @Sendable (LogoutNotice, Client, any Transaction) throws -> Void
        let send: @Sendable () -> Void

        /// - Parameters:
        ///   - leave: stores a message in the caller's transaction; a message with an id that exists is stored once.
        ///   - leaveNotice: does the same with a notice to a client, signed only when it is sent.
        ///   - send: starts the delivery, after the commit.
        public init(
            leave: @escaping @Sendable (Message, any Transaction) throws -> Void,
            leaveNotice: @escaping @Sendable (LogoutNotice, Client, any Transaction) throws -> Void,
            send: @escaping @Sendable () -> Void
        ) {
            self.leave = leave
            self.leaveNotice = leaveNotice
            self.send = send
        }
    }

    /// A signed message, ready to be posted unchanged.
    public struct Message: Sendable, Equatable {
        public let id: Identifier<Message>
        /// The client that gets it.
        public let client: Client.ID
        /// Its merchant.
        public let merchant: Merchant.ID?
        /// Which client it tells about which user.
        public let subject: String
        /// What it tells: all members but its time and id.
        public let content: String
        /// Whether it tells a new status or password. If so, it does not wait for other messages about the same user.
        public let isUrgent: Bool
        public let uri: String
        /// `<signature>.<payload>`, both base64url.
        public let body: String
    }

    let seal: Seal
    let post: Post
    private let random: any RandomSource

    public init(seal: Seal, random: any RandomSource, post: Post) {
        self.seal = seal
        self.random = random
        self.post = post
    }

    /// The announcement of one change. Make it outside the transaction, which may run twice.
    public func announcement(at now: Timestamp) -> CallbackAnnouncement {
        announcement(at: now, origin: random.bytes(16))
    }

    /// The callbacks of a transaction that publishes user events.
    public func announcement(for events: UserEvents.Announcement) -> CallbackAnnouncement {
        announcement(at: events.now, origin: events.origin)
    }

    /// Starts the delivery of what was stored. To be called after the commit.
    @Sendable public func deliver() { post.send() }

    /// As above, with 16 random bytes that were already drawn for the change.
    func announcement(at now: Timestamp, origin: [UInt8]) -> CallbackAnnouncement {
        CallbackAnnouncement(self, at: now, origin: origin)
    }
}
