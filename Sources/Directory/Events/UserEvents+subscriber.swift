public import Storage
public import Values

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
