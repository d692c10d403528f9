import Authentication
package import Directory
import HTTP
package import Storage
package import Values

/// The texts that SPiD's clients store here under keys, for their users and for themselves. An owner has few; a list of
/// all of a client's objects reads each.
package struct DataObjects: Sendable {
    let database: any Database
    private let clock: any WallClock

    package init(database: any Database, clock: any WallClock) {
        self.database = database
        self.clock = clock
    }

    package func find(_ key: String, of owner: DataObject.Owner) async throws -> DataObject? {
        let id = owner.id(of: key)
        return try await database.read { db in
            try db.rows("SELECT \(DataObject.columns) FROM data_objects WHERE id = \(id)").first.map(DataObject.init)
        }
    }

    /// All objects of a user at a client.
    package func list(of owner: DataObject.Owner) async throws -> [DataObject] {
        guard let user = owner.user else { return [] }
        return try await database.read { db in
            try db.rows(
                """
                SELECT \(DataObject.columns) FROM data_objects
                WHERE user_id = \(user) AND client_id = \(owner.client) ORDER BY id
                """
            ).map(DataObject.init)
        }
    }

    /// Stores `value` in place of the former one. The space of a merchant's clients is limited.
    package func set(
        _ key: String, to value: String, of owner: DataObject.Owner, merchant: Merchant.ID?, by authority: any Authority
    ) async throws -> DataObject {
        let now = clock.now
        let size = value.utf8.count
        let object = DataObject(
            id: owner.id(of: key), owner: owner, key: key, value: value, createdAt: now, updatedAt: now)
        return try await database.write { db in
            try authority.confirm(in: db)
            let others = try Self.others(than: object, in: db)
            guard others.count < DataObject.most, others.bytes + size <= DataObject.mostBytes else {
                throw SPiDRefusal(
                    .conflict,
                    "There may be \(DataObject.most) data objects of \(DataObject.mostBytes) bytes in all: delete one",
                    reason: "too_many_data_objects")
            }
            let earlier = try db.rows("SELECT size FROM data_objects WHERE id = \(object.id)").first
            if let wait = try DataObjectThrottle.charge(
                size, insteadOf: earlier?.get("size"), of: owner.client, merchant, at: now, in: db)
            {
                var refusal = SPiDRefusal(
                    .tooManyRequests, "Too many new data objects: wait as long as Retry-After says",
                    reason: "data_objects_throttled")
                refusal.retryAfter = wait
                throw refusal
            }
            try db.execute(
                """
                INSERT INTO data_objects (id, client_id, user_id, name, value, size, created_at, updated_at)
                VALUES (\(object.id), \(owner.client), \(owner.user), \(key), \(value), \(size), \(now), \(now))
                ON CONFLICT (id) DO UPDATE SET value = excluded.value, size = excluded.size,
                    updated_at = excluded.updated_at
                """)
            return try db.rows("SELECT \(DataObject.columns) FROM data_objects WHERE id = \(object.id)").first
                .map(DataObject.init) ?? object
        }
    }

    /// False when there is none.
    package func remove(
        _ key: String, of owner: DataObject.Owner, merchant: Merchant.ID?, by authority: any Authority
    ) async throws -> Bool {
        let id = owner.id(of: key)
        return try await database.write { db in
            try authority.confirm(in: db)
            guard let gone = try db.rows("SELECT size FROM data_objects WHERE id = \(id)").first else { return false }
            try DataObjectThrottle.giveBack([try gone.get("size")], of: owner.client, merchant, in: db)
            return try db.execute("DELETE FROM data_objects WHERE id = \(id)") == 1
        }
    }

    private static func others(
        than object: DataObject, in db: any Transaction
    ) throws -> (count: Int, bytes: Int) {
        let owner = object.owner
        let rows: [Row]
        if let user = owner.user {
            rows = try db.rows(
                """
                SELECT size FROM data_objects
                WHERE user_id = \(user) AND client_id = \(owner.client) AND id <> \(object.id)
                """)
        } else {
            rows = try db.rows(
                """
                SELECT size FROM data_objects
                WHERE user_id IS NULL AND client_id = \(owner.client) AND id <> \(object.id)
                """)
        }
        let sizes: [Int64] = try rows.map { try $0.get("size") }
        return (sizes.count, Int(sizes.reduce(0, +)))
    }
}
