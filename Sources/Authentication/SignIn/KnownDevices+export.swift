import JSON
import Storage

extension KnownDevices {
    /// Addresses and browsers are kept as fingerprints, so only the time can be shown.
    static let export = StoredTable.Export.member("known_places") { user, db in
        .array(
            try db.rows(
                "SELECT seen_at FROM known_devices WHERE user_id = \(user) LIMIT \(StoredTable.Export.most)"
            ).map { row in
                .members(["last_seen_at": try row.utc("seen_at")])
            })
    }
}
