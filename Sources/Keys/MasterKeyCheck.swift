public import Storage

/// Checks whether a master key belongs to a database, before anything fails to open.
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

    /// Compares the key with the check value stored in `database`.
    public func verify(_ database: any Database, _ tables: [StoredTable]) async throws -> Answer {
        let value = masterKey.checkValue
        return try await database.read { db in
            if let stored = try Self.stored(in: db) { return stored == value ? .right : .wrong }
            // Sealed values without a check value: it was removed. They must not be mixed with another key's.
            return try Self.isUnsealed(tables, db) ? .absent : .wrong
        }
    }

    /// Stores the key's check value, unless there is one already; `verify` tells which key it belongs to.
    public func store(in db: any Transaction) throws {
        try Facts.note(masterKey.checkValue, as: Self.fact, in: db)
    }

    /// Stores the key's check value in place of the old one, after everything was resealed.
    func replace(in db: any Transaction) throws {
        try Facts.replace(masterKey.checkValue, as: Self.fact, in: db)
    }

    /// Whether the stored check value is this key's.
    func isStored(in db: any Transaction) throws -> Bool { try Self.stored(in: db) == masterKey.checkValue }

    /// Whether the stored check value is another key's.
    func isReplaced(in db: any Transaction) throws -> Bool {
        try Self.stored(in: db).map { $0 != masterKey.checkValue } ?? false
    }

    /// A condition: the stored check value is not another key's.
    var isNotReplaced: SQL { Facts.isNotOther(than: masterKey.checkValue, Self.fact) }

    /// Whether `database` knows which key it has, in a schema of any version.
    public static func isKnown(in database: any Database) async throws -> Bool {
        try await database.read { db in try stored(in: db) != nil }
    }

    /// Whether `database` has never had a key: only then may it get a new one.
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
