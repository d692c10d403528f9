public import JSON
public import Values

extension StoredTable {
    /// One member of the copy of a user's data.
    public struct Export: Sendable {
        public let member: String
        let read: Read
        /// The most rows of one kind in a copy, which is made in memory. For rows that can end, as many live and as
        /// many ended ones.
        public static let most = 1000

        /// Reads what is held on a user: no secret, no hash, no fingerprint.
        public typealias Read = @Sendable (_ user: UserID, _ db: any Transaction) throws -> JSON

        public static func member(_ name: String, read: @escaping Read) -> Export {
            Export(member: name, read: read)
        }
    }
}

extension Sequence<StoredTable> {
    /// Everything that these tables hold on `user`, in an open transaction.
    public func export(of user: UserID, in db: any Transaction) throws -> [JSON.Member] {
        try flatMap(\.export).map { JSON.Member($0.member, try $0.read(user, db)) }
    }
}
