public import Storage
import Values

extension Throttle {
    static let table = StoredTable(
        "throttles", retention: [.rows("throttles", key: "name", until: "theoretical_arrival")])
}

extension KnownDevices {
    /// How long a device stays known after a sign-in.
    public static let memory: Duration = .days(180)

    static let table = StoredTable(
        "known_devices",
        retention: [
            .statement("knownDevices") { now, batch in
                """
                DELETE FROM known_devices WHERE (user_id, fingerprint) IN (
                    SELECT user_id, fingerprint FROM known_devices WHERE seen_at <= \(now - memory)
                    ORDER BY seen_at LIMIT \(batch))
                """
            }
        ],
        ofUser: .batches(owner: "user_id", key: "fingerprint"), export: [KnownDevices.export])
}

extension Logins {
    /// How long an attempt to sign in is remembered.
    public static let memory: Duration = .days(90)

    static let table = StoredTable(
        "logins", retention: [.rows("logins", key: "id", until: "created_at", memory: memory)],
        ofUser: .batches(owner: "user_id", key: "id"),
        // The attempts stay with their users, and must not pass to the next client that gets the id.
        ofClient: .steps { client, batch, db in
            try db.execute(
                """
                UPDATE logins SET client_id = NULL
                WHERE id IN (SELECT id FROM logins WHERE client_id = \(client) LIMIT \(batch))
                """)
        }, export: [Logins.export])
}

extension Verifications {
    /// How long an expired link or code is remembered, so that its page can say that it expired.
    public static let memory: Duration = .days(1)

    static let table = StoredTable(
        "verifications", retention: [.rows("verifications", key: "id", until: "expires_at", memory: memory)],
        ofUser: .withOwner, export: [Verifications.export],
        // All codes are changed, because one that was never sent must look the same. Links work under any key.
        forgottenWithKey: "UPDATE verifications SET code = \(codeOfOldKey) WHERE spent_at IS NULL")
}

extension StoredTable {
    /// The tables of this module.
    public static let ofAuthentication = [Throttle.table, KnownDevices.table, Logins.table, Verifications.table]
}
