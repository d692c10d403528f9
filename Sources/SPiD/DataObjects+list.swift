package import Directory
import Storage
import Values

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
