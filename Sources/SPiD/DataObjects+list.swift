package import Directory
import Storage
import Values

/// Which of a client's data objects are asked for.
package struct DataObjectQuery: Sendable {
    /// Nil for every key.
    package var key: String?
    package var span = TimeSpan()
    /// Whether `span` and the order are about the last change and not about the creation.
    package var isByChange = false
    package var isDescending = false
    package var part = ListPart()

    package init() {}
}

extension DataObjects {
    /// In bytes of values: a list ends early when it is this large.
    private static let mostBytes = 256 * 1024

    /// Those of the clients of `scope`, their own and their users', in the order of their time.
    package func list(_ query: DataObjectQuery, for scope: ClientScope) async throws -> [DataObject] {
        try await database.scan(for: .of(scope)) { db in
            let places = try db.rows(query.places(in: scope))
            var size: Int64 = 0
            var ids: [String] = []
            for place in places where size < Self.mostBytes {
                size += try place.get("size")
                ids.append(try place.get("id"))
            }
            guard !ids.isEmpty else { return [] }
            let found = try db.rows(
                "SELECT \(DataObject.columns) FROM data_objects WHERE id IN (\(list: ids))"
            ).map(DataObject.init)
            let objects = Dictionary(found.map { ($0.id, $0) }) { first, _ in first }
            return ids.compactMap { objects[$0] }
        }
    }
}

extension DataObjectQuery {
    /// The ids and sizes of what matches, without the values.
    fileprivate func places(in scope: ClientScope) -> SQL {
        let time: SQL.Columns = isByChange ? "updated_at" : "created_at"
        let order: SQL.Columns =
            switch (isByChange, isDescending) {
            case (false, false): "created_at, id"
            case (false, true): "created_at DESC, id DESC"
            case (true, false): "updated_at, id"
            case (true, true): "updated_at DESC, id DESC"
            }
        return """
            SELECT id, size FROM data_objects
            WHERE client_id IN (
                SELECT c.id FROM clients c WHERE c.id = \(scope.client)
                    OR (c.merchant_id = \(scope.reach) AND c.registration_token IS NULL))
                AND (CAST(\(key) AS TEXT) IS NULL OR name = \(key))
                AND (user_id IS NULL OR EXISTS (
                    SELECT 1 FROM users u WHERE u.id = data_objects.user_id AND u.deletion_due_at IS NULL))
                AND \(time) >= \(span.start) AND \(time) < \(span.end)
            ORDER BY \(order) LIMIT \(part.limit) OFFSET \(part.offset)
            """
    }
}
