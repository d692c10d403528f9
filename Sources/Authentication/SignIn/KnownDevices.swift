public import Directory
import JSON
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

/// A known device lifts limits on guessing, so only devices count that signed in with the user's current credentials.
extension KnownDevices {
    /// How many addresses and browsers of a user are known. Browsers can make up any number of marks.
    static let most = 100

    /// Forgets the devices of `user` beyond `most` that were not seen for longest, but never those of `place`.
    static func forgetOldest(of user: UserID, except place: Place, in db: any Transaction) throws {
        // Sorted here, because SQL would sort at every sign-in from a new place.
        let rows = try db.rows(
            "SELECT fingerprint, seen_at FROM known_devices WHERE user_id = \(user) LIMIT \(2 * most)")
        guard rows.count > most else { return }
        let known: [(seenAt: Timestamp, mark: Fingerprint<Place>)] = try rows.map {
            (try $0.get("seen_at"), try $0.get("fingerprint"))
        }
        let oldest = known.filter { !place.marks.contains($0.mark) }.sorted { $0.seenAt < $1.seenAt }
            .prefix(rows.count - most).map(\.mark)
        try db.execute("DELETE FROM known_devices WHERE user_id = \(user) AND fingerprint IN (\(list: oldest))")
    }

    /// Forgets all devices of `user`, who proves an address, unless they have a verified one already: before the first
    /// proof another user may have signed in there. Returns whether it is the first proof.
    @discardableResult
    static func forgetUnproved(of user: UserID, in db: any Transaction) throws -> Bool {
        let isFirst = try !db.rows("SELECT id FROM users WHERE id = \(user) AND email_verified = 0").isEmpty
        if isFirst { try db.execute("DELETE FROM known_devices WHERE user_id = \(user)") }
        return isFirst
    }

    /// Anyone who knew the old password, or had the account before its owner, may have left known devices. The browser
    /// that continues is remembered again after the event. A confined link makes no place known, and a merchant could
    /// make and remove one at will.
    public static let subscriber = UserEvents.Subscriber(
        "KnownDevices",
        [UserEvent.Kind.accessRevoked, .methodRevoked, .unlinked, .takenOver].map { kind in
            .on(kind, "forgets the addresses and browsers where the user signed in") { event, user, _, db in
                if case .unlinked(_, _, wasConfined: true) = event { return }
                try db.execute("DELETE FROM known_devices WHERE user_id = \(user)")
            }
        })
}

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
