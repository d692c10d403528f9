public import Directory
import Storage
public import Values

/// Where people signed in before: the addresses, and the browsers by a mark of their own. No attack from elsewhere is
/// felt there.
public enum KnownDevices {
    /// Where an attempt comes from.
    public struct Place: Sendable {
        let address: String
        let device: Secret<Device>?

        public init(address: String, device: Secret<Device>?) {
            self.address = address
            self.device = device
        }

        // Kept as fingerprints: it is enough to know them again.
        var addressMark: Fingerprint<Place> { Fingerprint(of: address) }
        var deviceMark: Fingerprint<Place>? { device.map { Fingerprint(of: "device|\($0.value)") } }
        var marks: [Fingerprint<Place>] { [addressMark] + (deviceMark.map { [$0] } ?? []) }
    }

    static func remember(_ place: Place, of user: UserID, at now: Timestamp, in db: any Transaction) throws {
        for mark in place.marks {
            try db.execute(
                """
                INSERT INTO known_devices (user_id, fingerprint, seen_at) VALUES (\(user), \(mark), \(now))
                ON CONFLICT (user_id, fingerprint) DO UPDATE SET seen_at = excluded.seen_at
                """)
        }
    }

    /// Whether `user` signed in from this mark before.
    static func knows(_ mark: Fingerprint<Place>?, of user: UserID, in db: any Transaction) throws -> Bool {
        guard let mark else { return false }
        return try !db.rows(
            "SELECT seen_at FROM known_devices WHERE user_id = \(user) AND fingerprint = \(mark)"
        ).isEmpty
    }
}
