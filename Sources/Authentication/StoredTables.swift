public import Storage
import Values

extension Throttle {
    static let table = StoredTable(
        "throttles", retention: [.rows("throttles", key: "name", until: "theoretical_arrival")])
}

extension KnownDevices {
    /// A device from which somebody signed in is known this long.
    public static let memory: Duration = .days(180)

    static let table = StoredTable(
        "known_devices",
        retention: [
            .statement("knownDevices") { now, batch in
                """
                DELETE FROM known_devices WHERE seen_at <= \(now - memory) AND user_id IN (
                    SELECT user_id FROM known_devices WHERE seen_at <= \(now - memory)
                    ORDER BY seen_at LIMIT \(batch))
                """
            }
        ],
        ofUser: .cascade, export: [KnownDevices.export])
}

extension Logins {
    /// An attempt to sign in is remembered this long.
    public static let memory: Duration = .days(90)

    static let table = StoredTable(
        "logins", retention: [.rows("logins", key: "id", until: "created_at", memory: memory)], ofUser: .cascade,
        ofClient: .expiry, export: [Logins.export])
}

extension Verifications {
    /// A link or a code that came too late is known this long, so that its page can say that it is too late.
    public static let memory: Duration = .days(1)

    static let table = StoredTable(
        "verifications", retention: [.rows("verifications", key: "id", until: "expires_at", memory: memory)],
        ofUser: .withOwner, export: [Verifications.export])
}

extension StoredTable {
    /// The tables of this module.
    public static let ofAuthentication = [Throttle.table, KnownDevices.table, Logins.table, Verifications.table]
}
