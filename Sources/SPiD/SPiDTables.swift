import Authentication
import Directory
import JSON
public import Storage
import Values

extension DataObjects {
    static let table = StoredTable(
        "data_objects", ofUser: .steps(erasing(of: "user_id")), ofClient: .steps(erasing(of: "client_id")),
        export: [export])

    /// Deletes objects of the user or client in the column `owner`, and refunds their space.
    private static func erasing(of owner: SQL.Columns) -> StoredTable.Erasure.Step {
        { id, batch, db in
            let some: [String] = try db.rows(
                "SELECT id FROM data_objects WHERE \(owner) = \(id) LIMIT \(batch)"
            ).map { try $0.get("id") }
            guard !some.isEmpty else { return 0 }
            try giveBack("d.id IN (\(list: some))", in: db)
            return try db.execute("DELETE FROM data_objects WHERE id IN (\(list: some))")
        }
    }

    /// Refunds the space of the objects that `which` selects and that are about to be deleted.
    static func giveBack(_ which: SQL, in db: any Transaction) throws {
        let gone = try db.rows(
            """
            SELECT d.client_id, d.size, c.merchant_id FROM data_objects d JOIN clients c ON c.id = d.client_id
            WHERE \(which)
            """
        ).map { row in
            (
                client: try row.get("client_id", as: Client.ID.self), size: try row.get("size", as: Int.self),
                merchant: try row.get("merchant_id", as: Merchant.ID?.self)
            )
        }
        for (client, objects) in Dictionary(grouping: gone, by: \.client) {
            try DataObjectThrottle.giveBack(objects.map(\.size), of: client, objects.first?.merchant, in: db)
        }
    }

    private static let export = StoredTable.Export.member("data_objects") { user, db in
        .array(
            try db.rows(
                """
                SELECT client_id, name, value, created_at, updated_at FROM data_objects
                WHERE user_id = \(user) ORDER BY client_id, id LIMIT \(StoredTable.Export.most)
                """
            ).map { row in
                .members([
                    "client_id": .string(try row.get("client_id")), "key": .string(try row.get("name")),
                    "value": .string(try row.get("value")), "created_at": try row.utc("created_at"),
                    "updated_at": try row.utc("updated_at"),
                ])
            })
    }
}

extension StoredTable {
    /// The table of this module.
    public static let ofSPiD = [DataObjects.table]
}
