import Storage
import Values

/// Limits how many sessions a user has.
extension Sessions {
    /// The most live sessions that a user has by signing in, and the most that each merchant opened for them. The
    /// limits are separate because a holder of a token can buy sessions, and must not displace others. One more ends
    /// the least recently used, which keeps the page that lists them and the statement that ends them small.
    static let mostOfOne = 100

    /// Ends sessions of `user` beyond `mostOfOne` that have the same origin as `new`, which was just opened.
    static func displaceSurplus(
        of user: UserID, beside new: Session.ID, at now: Timestamp, in db: any Transaction,
        _ announcement: UserEvents.Announcement
    ) throws {
        let owner: SQL =
            """
            COALESCE(\(Issuers.merchant),
                CASE WHEN s.path IS NULL THEN '' ELSE COALESCE(c.merchant_id, '-') END)
            """
        let sessions: SQL = "sessions s LEFT JOIN clients c ON c.id = s.client_id \(Issuers.joined)"
        // Sorted here, because SQL would sort at every sign-in.
        let live = try db.rows(
            """
            SELECT s.id, s.seen_at FROM \(sessions)
            WHERE s.user_id = \(user) AND s.ended_at IS NULL AND s.expires_at > \(now)
                AND \(owner) = (SELECT \(owner) FROM \(sessions) WHERE s.id = \(new))
            LIMIT \(2 * mostOfOne)
            """)
        guard live.count > mostOfOne else { return }
        let byUse: [(seenAt: Timestamp, id: Session.ID)] = try live.map { (try $0.get("seen_at"), try $0.get("id")) }
        for session in byUse.sorted(by: { $0.seenAt < $1.seenAt }).prefix(live.count - mostOfOne) {
            try end(session.id, at: now, in: db, announcement)
        }
    }

    /// How many ended sessions of one user are kept until they would have expired.
    static let mostEnded = 1000

    /// Deletes ended sessions of `user` beyond `mostEnded`: an app may open sessions thousands of times a minute. Runs
    /// for one new session in 256, chosen by its random id, so that few sign-ins pay for it.
    static func forgetEnded(of user: UserID, after session: Session.ID, in db: any Transaction) throws {
        guard session.isSampled else { return }
        try db.execute(
            """
            DELETE FROM sessions WHERE id IN (
                SELECT id FROM sessions WHERE user_id = \(user) AND ended_at IS NOT NULL
                ORDER BY ended_at DESC, id DESC LIMIT \(2 * mostEnded) OFFSET \(mostEnded))
            """)
    }
}
