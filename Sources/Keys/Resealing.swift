public import Cryptography
public import Storage

/// Seals everything in a database under a new master key, in one transaction. No server may run with the old key then.
public struct Resealing: Sendable {
    private let old: MasterKey
    private let new: MasterKey
    private let tables: [StoredTable]
    private let random: any RandomSource

    public init(from old: MasterKey, to new: MasterKey, _ tables: [StoredTable], random: any RandomSource) {
        self.old = old
        self.new = new
        self.tables = tables
        self.random = random
    }

    /// Reseals `database` and returns how many values it resealed. Throws `MasterKeyError.wrong` for another old key.
    ///
    /// Successors of refresh tokens whose rotation is not yet confirmed cannot be resealed: they open only with the
    /// predecessor, which only the client has. They are erased, so a phone that lost the response to its rotation at
    /// that very moment must sign in again. Codes that were mailed or texted expire. Exchange codes, open forms and
    /// sign-ins begun at other issuers depend on the key and must be begun again.
    @discardableResult
    public func run(on database: any Database) async throws -> Int {
        let (old, new, tables, random) = (old, new, tables, random)
        return try await database.write { db in
            // After a COMMIT of unknown outcome the work may run twice; the second run finds it done.
            if try MasterKeyCheck(new).isStored(in: db) { return 0 }
            guard try MasterKeyCheck(old).isStored(in: db) else { throw MasterKeyError.wrong }
            let (from, to) = (Seal(masterKey: old, random: random), Seal(masterKey: new, random: random))
            var count = 0
            for column in tables.flatMap(\.sealed) {
                guard let place = SealedPlace(rawValue: column.place) else { throw MasterKeyError.wrong }
                for row in try db.rows(column.rows) {
                    let id = try row.get("id", as: String.self)
                    let text = try from.open(row.get("sealed"), place, row: id)
                    try db.execute(column.replacement(to.seal(text, place, row: id), row: id))
                    count += 1
                }
            }
            for statement in tables.compactMap(\.forgottenWithKey) { try db.execute(statement) }
            try MasterKeyCheck(new).replace(in: db)
            return count
        }
    }
}
