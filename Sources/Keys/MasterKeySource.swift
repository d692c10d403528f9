public import Cryptography
public import Storage

/// Where the master key of a deployment comes from, and what happens if it is missing.
public enum MasterKeySource: Sendable {
    /// From the configuration itself.
    case given(MasterKey)
    /// From a file. `mayCreate` when the file is next to the database, as with SQLite; never for a shared database,
    /// whose other nodes would not have the file.
    case file(MasterKeyFile, mayCreate: Bool)

    /// The checked key of `database`, whose sealed values are in `tables`. A database without a key remembers this one;
    /// a database that has a key accepts no other.
    public func masterKey(
        for database: any Database, _ tables: [StoredTable], random: any RandomSource
    ) async throws -> MasterKey {
        let key = try await obtain(for: database, tables, random: random)
        let check = MasterKeyCheck(key)
        if try await check.verify(database, tables) == .absent {
            try await database.write { db in try check.store(in: db) }
        }
        // Verify again after storing: another node may have been first.
        guard try await check.verify(database, tables) == .right else { throw MasterKeyError.wrong }
        return key
    }

    private func obtain(
        for database: any Database, _ tables: [StoredTable], random: any RandomSource
    ) async throws -> MasterKey {
        switch self {
        case .given(let key): return key
        case .file(let file, let mayCreate):
            if let key = try file.read() { return key }
            guard try await MasterKeyCheck.isWithoutKey(database, tables) else {
                throw MasterKeyError.missing(path: file.path)
            }
            guard mayCreate else { throw MasterKeyError.notGiven(path: file.path) }
            let key = MasterKey.random(from: random)
            try file.create(key)
            return key
        }
    }
}
