public import Cryptography
public import Keys
import Server
public import Storage
public import Values

extension Retention {
    /// A sweeper with the rules of every table.
    public init(database: any Database) { self.init(database: database, tables: StoredTable.all) }

    /// Follows only the rules with these `names`.
    public func sweep(only names: Set<String>, at now: Timestamp, batch: Int = 500) async -> Sweep {
        await sweep(rules.filter { names.contains($0.name) }, at: now, batch: batch)
    }
}

extension BulkErasure {
    /// An erasure that covers every table.
    public init(database: any Database, batch: Int = 200) {
        self.init(database: database, tables: StoredTable.all, batch: batch)
    }
}

extension Resealing {
    /// A resealing of every table.
    public init(from old: MasterKey, to new: MasterKey, random: any RandomSource) {
        self.init(from: old, to: new, StoredTable.all, random: random)
    }
}

extension MasterKeyCheck {
    public func verify(_ database: any Database) async throws -> Answer { try await verify(database, StoredTable.all) }
}

extension MasterKeySource {
    public func masterKey(for database: any Database, random: any RandomSource) async throws -> MasterKey {
        try await masterKey(for: database, StoredTable.all, random: random)
    }
}
