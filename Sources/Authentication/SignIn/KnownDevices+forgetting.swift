public import Directory
import Storage
import Values

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
