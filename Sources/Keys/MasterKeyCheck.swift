public import Storage

/// Tells whether a master key is the one a database was made with, before anything fails to open.
public struct MasterKeyCheck: Sendable {
    public enum Answer: Sendable, Equatable {
        /// The database has no key yet, and nothing sealed.
        case absent
        case right
        case wrong
    }

    private static let fact = "master_key_check"
    private let masterKey: MasterKey

    public init(_ masterKey: MasterKey) { self.masterKey = masterKey }

    /// Compares the key with what `database` remembers of its own.
    public func verify(_ database: any Database, _ tables: [StoredTable]) async throws -> Answer {
        let value = masterKey.checkValue
        return try await database.read { db in
            if let stored = try Self.stored(in: db) { return stored == value ? .right : .wrong }
            // Sealed values without a check value: somebody took it away. They are not to be mixed with another key's.
            return try Self.isUnsealed(tables, db) ? .absent : .wrong
        }
    }

    /// Remembers the key, unless the database remembers one already. `verify` says which.
    public func store(in db: any Transaction) throws {
        try Facts.note(masterKey.checkValue, as: Self.fact, in: db)
    }

    /// Remembers the key in place of the one before it, after everything was sealed anew.
    func replace(in db: any Transaction) throws {
        try Facts.replace(masterKey.checkValue, as: Self.fact, in: db)
    }

    /// Whether the key is the one that `db` remembers.
    func isStored(in db: any Transaction) throws -> Bool { try Self.stored(in: db) == masterKey.checkValue }

    /// Whether `db` remembers another key.
    func isReplaced(in db: any Transaction) throws -> Bool {
        try Self.stored(in: db).map { $0 != masterKey.checkValue } ?? false
    }

    /// Whether `database` was made without any key so far: only such a database may be given a new one.
    public static func isWithoutKey(_ database: any Database, _ tables: [StoredTable]) async throws -> Bool {
        try await database.read { db in try stored(in: db) == nil && isUnsealed(tables, db) }
    }

    private static func stored(in db: any Transaction) throws -> String? {
        try Facts.value(of: fact, in: db)
    }

    private static func isUnsealed(_ tables: [StoredTable], _ db: any Transaction) throws -> Bool {
        for column in tables.flatMap(\.sealed) where try !db.rows(column.rows).isEmpty { return false }
        return true
    }
}
