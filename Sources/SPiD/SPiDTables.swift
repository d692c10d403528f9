import JSON
public import Storage
import Values

extension DataObjects {
    static let table = StoredTable(
        "data_objects", ofUser: .batches(owner: "user_id", key: "id"),
        ofClient: .batches(owner: "client_id", key: "id"), export: [export])

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
