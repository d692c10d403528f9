import Authentication
package import Directory
import HTTP
package import JSON
package import Storage
package import Values

/// A text that a client keeps here under a key.
package struct DataObject: Sendable {
    /// The owner: a client itself, or one of its users.
    package struct Owner: Sendable {
        let client: Client.ID
        let user: UserID?

        package init(client: Client.ID, user: UserID?) {
            self.client = client
            self.user = user
        }

        /// Each owner has one object per key.
        func id(of key: String) -> String {
            let place: JSON = .array([.string(client.text), .string(user?.description ?? ""), .string(key)])
            return Fingerprint<DataObject>(of: place.text).text
        }
    }

    /// In bytes of UTF-8.
    package static let longestKey = 255
    package static let longestValue = 60_000
    /// The most objects that one owner has, and the most bytes of values in all.
    package static let most = 100
    package static let mostBytes = 256 * 1024

    let id: String
    let owner: Owner
    let key: String
    let value: String
    let createdAt: Timestamp
    var updatedAt: Timestamp

    /// As SPiD shows it: texts only.
    package func member(merchant: Int64?) -> JSON.Member {
        JSON.Member(
            id,
            .members([
                "dataObjectId": .string(id), "clientId": .string(owner.client.text),
                "merchantId": .string(merchant.map { "\($0)" } ?? ""),
                "userId": .string(owner.user?.description ?? ""), "key": .string(key), "value": .string(value),
                "updated": .string(updatedAt.spidText), "created": .string(createdAt.spidText),
            ]))
    }
}

extension DataObject {
    static let columns: SQL.Columns = "id, client_id, user_id, name, value, created_at, updated_at"

    init(_ row: Row) throws {
        let user: Int64? = try row.get("user_id")
        self.init(
            id: try row.get("id"),
            owner: Owner(client: try row.get("client_id"), user: user.map { UserID($0) }),
            key: try row.get("name"), value: try row.get("value"), createdAt: try row.get("created_at"),
            updatedAt: try row.get("updated_at"))
    }
}

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

/// Which of a client's data objects are asked for.
package struct DataObjectQuery: Sendable {
    /// Nil for every key.
    package var key: String?
    package var span = TimeSpan()
    /// Whether `span` and the order refer to the last change instead of the creation.
    package var isByChange = false
    package var isDescending = false
    package var part = ListPart()

    package init() {}
}

extension DataObjects {
    /// In bytes of values: a list ends early when it is this large.
    private static let mostBytes = 256 * 1024

    /// The objects of the clients of `scope`, their own and their users', in the order of their time.
    package func list(_ query: DataObjectQuery, for scope: ClientScope) async throws -> [DataObject] {
        try await database.scan(for: .of(scope)) { db in
            var size: Int64 = 0
            var ids: [String] = []
            for place in try Self.places(query, scope, in: db) where size < Self.mostBytes {
                size += place.size
                ids.append(place.id)
            }
            guard !ids.isEmpty else { return [] }
            let found = try db.rows(
                "SELECT \(DataObject.columns) FROM data_objects WHERE id IN (\(list: ids))"
            ).map(DataObject.init)
            let objects = Dictionary(found.map { ($0.id, $0) }) { first, _ in first }
            return ids.compactMap { objects[$0] }
        }
    }

    /// An object that matches, without its value, and its position in the list.
    private struct Place {
        let id: String
        let moment: Int64
        let size: Int64

        init(_ row: Row) throws {
            id = try row.get("id")
            moment = try row.get("moment")
            size = try row.get("size")
        }

        static func precedes(_ one: Place, _ other: Place) -> Bool { (one.moment, one.id) < (other.moment, other.id) }
    }

    /// Each client's first objects in index order, which include the first of all.
    private static func places(_ query: DataObjectQuery, _ scope: ClientScope, in db: any Transaction) throws -> [Place]
    {
        let precedes = query.isDescending ? { Place.precedes($1, $0) } : Place.precedes
        let clients: [Client.ID] = try db.rows(
            """
            SELECT c.id FROM clients c WHERE c.deleted_at IS NULL AND \(scope.contains("c"))
            """
        ).map { try $0.get("id") }
        var found: [Place] = []
        for client in clients {
            found += try db.rows(query.places(of: client)).map(Place.init)
            if found.count > 2 * query.part.end { found = Array(found.sorted(by: precedes).prefix(query.part.end)) }
        }
        return Array(found.sorted(by: precedes).dropFirst(query.part.offset).prefix(query.part.limit))
    }
}

extension DataObjectQuery {
    /// The ids, times and sizes of what matches.
    fileprivate func places(of client: Client.ID) -> SQL {
        let time: SQL.Columns = isByChange ? "updated_at" : "created_at"
        let order: SQL.Columns = isDescending ? "moment DESC, id DESC" : "moment, id"
        let named: SQL = key.map { "AND name = \($0)" } ?? ""
        return """
            SELECT id, \(time) AS moment, size FROM data_objects
            WHERE client_id = \(client) \(named) AND \(time) >= \(span.start) AND \(time) < \(span.end)
                AND (user_id IS NULL OR EXISTS (
                    SELECT 1 FROM users u WHERE u.id = data_objects.user_id AND u.deletion_due_at IS NULL))
            ORDER BY \(order) LIMIT \(part.end)
            """
    }
}

extension DataObjects {
    /// Refunds the space of objects that are deleted with their user's connections.
    package static let subscriber = UserEvents.Subscriber(
        "DataObjects",
        [
            .on(.connectionsEnding, "gives back to the merchants what the user's data objects took") {
                event, user, _, db in
                guard case .connectionsEnding(let clients) = event else { return }
                try giveBack("d.user_id = \(user) AND d.client_id IN (\(list: clients))", in: db)
            }
        ])
}
