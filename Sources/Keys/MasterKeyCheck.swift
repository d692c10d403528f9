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
    public func verify(_ database: any Database) async throws -> Answer {
        let value = masterKey.checkValue
        return try await database.read { db in
            if let stored = try Self.stored(in: db) { return stored == value ? .right : .wrong }
            // Sealed values without a check value: somebody took it away. They are not to be mixed with another key's.
            return try Self.isUnsealed(db) ? .absent : .wrong
        }
    }

    /// Remembers the key, unless the database remembers one already. `verify` says which.
    public func store(in db: any Transaction) throws {
        try db.execute(
            """
            INSERT INTO facts (name, value) VALUES (\(Self.fact), \(masterKey.checkValue))
            ON CONFLICT (name) DO NOTHING
            """)
    }

    /// Remembers the key in place of the one before it, after everything was sealed anew.
    func replace(in db: any Transaction) throws {
        try db.execute("UPDATE facts SET value = \(masterKey.checkValue) WHERE name = \(Self.fact)")
    }

    /// Whether the key is the one that `db` remembers.
    func isStored(in db: any Transaction) throws -> Bool { try Self.stored(in: db) == masterKey.checkValue }

    /// Whether `db` remembers another key.
    func isReplaced(in db: any Transaction) throws -> Bool {
        try Self.stored(in: db).map { $0 != masterKey.checkValue } ?? false
    }

    /// Whether `database` was made without any key so far: only such a database may be given a new one.
    public static func isWithoutKey(_ database: any Database) async throws -> Bool {
        try await database.read { db in try stored(in: db) == nil && isUnsealed(db) }
    }

    private static func stored(in db: any Transaction) throws -> String? {
        try db.rows("SELECT value FROM facts WHERE name = \(fact)").first?.get("value")
    }

    private static func isUnsealed(_ db: any Transaction) throws -> Bool {
        for place in SealedPlace.allCases where try !db.rows(place.sealedRows).isEmpty { return false }
        return true
    }
}
