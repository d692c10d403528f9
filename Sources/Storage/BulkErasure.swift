/// Deletes what a user, a client or a merchant owns, in batches, before the owner itself: one DELETE that cascades over
/// a million rows would block everyone else, and on PostgreSQL would never finish.
///
/// A request deletes no more than its budget, and so never takes long. The sweeper deletes the rest.
public struct BulkErasure: Sendable {
    /// How many full batches may still be deleted.
    public struct Budget: Sendable {
        fileprivate var batches: Int

        public init(batches: Int) { self.batches = batches }

        /// What one request may delete.
        public static let request = Budget(batches: 20)
        /// For a command, whose work the sweeper does not continue.
        public static let unlimited = Budget(batches: .max)

        public var isSpent: Bool { batches <= 0 }

        /// Counts a batch.
        public mutating func spend() { batches -= 1 }
    }

    /// Whether the owner is still the one to be deleted. Asked in each transaction, because meanwhile another node may
    /// have finished and the id may have been given again.
    public typealias Condition = @Sendable (any Transaction) throws -> Bool

    private let database: any Database
    /// Children before their parents.
    private let tables: [StoredTable]
    private let batch: Int

    public init(database: any Database, tables: [StoredTable], batch: Int = 200) {
        self.database = database
        self.tables = tables
        self.batch = batch
    }

    /// Deletes the user's rows in batches. Returns whether only those are left that a foreign key deletes.
    public func user(
        _ id: some SQLBindable & Sendable, _ budget: inout Budget, while isMeant: @escaping Condition
    ) async throws -> Bool {
        try await erase(\.ofUser, of: id, &budget, while: isMeant)
    }

    /// Deletes what the client owns, as for a user. Returns whether none is left.
    public func client(
        _ id: some SQLBindable & Sendable, _ budget: inout Budget, while isMeant: @escaping Condition
    ) async throws -> Bool {
        try await erase(\.ofClient, of: id, &budget, while: isMeant)
    }

    /// Deletes what the merchant itself owns, as for a user. Returns whether none is left.
    public func merchant(
        _ id: some SQLBindable & Sendable, _ budget: inout Budget, while isMeant: @escaping Condition
    ) async throws -> Bool {
        try await erase(\.ofMerchant, of: id, &budget, while: isMeant)
    }

    private func erase(
        _ erasure: KeyPath<StoredTable, StoredTable.Erasure>, of owner: any SQLBindable & Sendable,
        _ budget: inout Budget, while isMeant: @escaping Condition
    ) async throws -> Bool {
        for step in tables.compactMap({ $0.step(of: $0[keyPath: erasure]) }) {
            var gone = batch
            while gone >= batch {
                guard !budget.isSpent else { return false }
                let done = try await database.write { [batch] db in
                    try isMeant(db) ? try step(owner, batch, db) : nil
                }
                guard let done else { return false }
                gone = done
                if gone >= batch { budget.spend() }
            }
        }
        return true
    }
}
