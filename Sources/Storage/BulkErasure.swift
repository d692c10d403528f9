/// Deletes what a user, a client or a merchant owns, in batches, before the owner itself: one DELETE that cascades over
/// a million rows would block everyone else, and on PostgreSQL would never finish.
public struct BulkErasure: Sendable {
    private let database: any Database
    /// Children before their parents.
    private let tables: [StoredTable]
    private let batch: Int

    public init(database: any Database, tables: [StoredTable], batch: Int = 500) {
        self.database = database
        self.tables = tables
        self.batch = batch
    }

    public func user(_ id: some SQLBindable & Sendable) async throws { try await erase(\.ofUser, of: id) }

    public func client(_ id: some SQLBindable & Sendable) async throws { try await erase(\.ofClient, of: id) }

    public func merchant(_ id: some SQLBindable & Sendable) async throws { try await erase(\.ofMerchant, of: id) }

    private func erase(
        _ erasure: KeyPath<StoredTable, StoredTable.Erasure>, of owner: any SQLBindable & Sendable
    ) async throws {
        for statement in tables.compactMap({ $0.statement(of: $0[keyPath: erasure]) }) {
            let sql = statement(owner, batch)
            var gone = batch
            while gone >= batch { gone = try await database.write { db in try db.execute(sql) } }
        }
    }
}
