public import Cryptography
public import Keys
public import Storage
public import Values

/// Tells the clients of a person, at their `callback_uri`, what happened to that person: signed as SPiD does.
public struct Callbacks: Sendable {
    /// Who takes a message to its receiver.
    public struct Post: Sendable {
        let leave: @Sendable (Message, any Transaction) throws -> Void
        let leaveNotice: @Sendable (LogoutNotice, any Transaction) throws -> Void
        let send: @Sendable () -> Void

        /// - Parameters:
        ///   - leave: keeps a message in the caller's transaction; one with the id of an earlier one is that one.
        ///   - leaveNotice: the same of a notice, which is signed only when it is sent.
        ///   - send: said once that is committed.
        public init(
            leave: @escaping @Sendable (Message, any Transaction) throws -> Void,
            leaveNotice: @escaping @Sendable (LogoutNotice, any Transaction) throws -> Void,
            send: @escaping @Sendable () -> Void
        ) {
            self.leave = leave
            self.leaveNotice = leaveNotice
            self.send = send
        }
    }

    /// One signed message, ready to be posted as it stands.
    public struct Message: Sendable, Equatable {
        public let id: Identifier<Message>
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

    /// What is to be told of one change, whoever it concerns. Made outside of the transaction, which may run twice.
    public func announcement(at now: Timestamp) -> CallbackAnnouncement {
        announcement(at: now, origin: random.bytes(16))
    }

    /// As above, where 16 bytes of chance were drawn for the change already.
    func announcement(at now: Timestamp, origin: [UInt8]) -> CallbackAnnouncement {
        CallbackAnnouncement(self, at: now, origin: origin)
    }
}
