public import Directory
import Storage
public import Values

/// The addresses and browsers that users signed in from before; browsers are recognized by a cookie. Attacks from
/// elsewhere do not affect sign-ins there.
public enum KnownDevices {
    /// The address and the device of an attempt.
    public struct Place: Sendable {
        let address: String
        let device: Secret<Device>?

        public init(address: String, device: Secret<Device>?) {
            self.address = address
            self.device = device
        }

        // Stored as fingerprints: that is enough to recognize them.
        var addressMark: Fingerprint<Place> { Fingerprint(of: address) }
        var deviceMark: Fingerprint<Place>? { device.map { Fingerprint(of: "device|\($0.value)") } }
        var marks: [Fingerprint<Place>] { [addressMark] + (deviceMark.map { [$0] } ?? []) }
    }

    static func remember(_ place: Place, of user: UserID, at now: Timestamp, in db: any Transaction) throws {
        var isNew = false
        for mark in place.marks {
            let seen = try db.execute(
                "UPDATE known_devices SET seen_at = \(now) WHERE user_id = \(user) AND fingerprint = \(mark)")
            guard seen == 0 else { continue }
            isNew = true
            try db.execute(
                """
                INSERT INTO known_devices (user_id, fingerprint, seen_at) VALUES (\(user), \(mark), \(now))
                ON CONFLICT (user_id, fingerprint) DO UPDATE SET seen_at = excluded.seen_at
                """)
        }
        if isNew { try forgetOldest(of: user, except: place, in: db) }
    }

    /// Whether the user who is known to read mail to `email` signed in with this fingerprint before. Sessions count
    /// only for a verified address: another user may have opened them with an address they do not own.
    private static func knows(
        _ mark: Fingerprint<Place>, ofReader email: EmailAddress, in db: any Transaction
    ) throws -> Bool {
        try !db.rows(
            """
            SELECT seen_at FROM known_devices JOIN users ON users.id = known_devices.user_id
            WHERE users.email = \(email) AND users.email_verified = 1 AND fingerprint = \(mark)
            """
        ).isEmpty
    }

    /// As above, for the user who proved to read text messages to `phone`.
    private static func knows(
        _ mark: Fingerprint<Place>, ofReader phone: PhoneNumber, in db: any Transaction
    ) throws -> Bool {
        try !db.rows(
            """
            SELECT seen_at FROM known_devices JOIN users ON users.id = known_devices.user_id
            WHERE users.verified_phone = \(phone) AND fingerprint = \(mark)
            """
        ).isEmpty
    }

    /// Whether the user who is known to read what `verification` was sent to signed in at `place` before.
    static func knows(
        _ place: Place, ofReaderOf verification: Verification, in db: any Transaction
    ) throws -> Bool {
        try place.marks.contains { try knows($0, ofReaderOf: verification, in: db) }
    }

    /// As above, for one of the place's fingerprints.
    static func knows(
        _ mark: Fingerprint<Place>, ofReaderOf verification: Verification, in db: any Transaction
    ) throws -> Bool {
        if let phone = verification.phone { return try knows(mark, ofReader: phone, in: db) }
        return try EmailAddress(verification.email).map { try knows(mark, ofReader: $0, in: db) } ?? false
    }

    /// Whether `user` signed in with this fingerprint before.
    static func knows(_ mark: Fingerprint<Place>?, of user: UserID, in db: any Transaction) throws -> Bool {
        guard let mark else { return false }
        return try !db.rows(
            "SELECT seen_at FROM known_devices WHERE user_id = \(user) AND fingerprint = \(mark)"
        ).isEmpty
    }
}
