package import Storage
package import Values

/// Which sessions end on request, and what events say so. OAuth decides what ends with them (`Ending`), and marks them
/// too. `Sessions.table` says how long their rows stay.
extension Sessions {
    /// A live session, before it ends.
    package struct Live {
        package let user: UserID
        package let rest: UserEvent.SignedOutSession
        /// The only one that it is good for.
        let merchant: Merchant.ID?
    }

    /// The session `id`, unless it has ended or expired.
    static func live(_ id: Session.ID, at now: Timestamp, in db: any Transaction) throws -> Live? {
        try db.rows(
            """
            SELECT s.user_id, s.path, COALESCE(\(Issuers.merchant), c.merchant_id) AS merchant_id
            FROM sessions s LEFT JOIN clients c ON c.id = s.client_id \(Issuers.joined)
            WHERE s.id = \(id) AND s.ended_at IS NULL AND s.expires_at > \(now)
            """
        ).first.map { row in
            let merchant: Merchant.ID? = try row.get("merchant_id")
            let buyer: TokenFamily.Path? = try row.get("path")
            return Live(
                user: try row.get("user_id"),
                rest: buyer.map { .bought(by: $0.family) } ?? merchant.map { .confined(to: $0) } ?? .signIn,
                merchant: merchant)
        }
    }

    /// Ends a session at its user's request; does nothing if it has ended already.
    static func end(
        _ id: Session.ID, at now: Timestamp, in db: any Transaction, _ announcement: UserEvents.Announcement
    ) throws {
        guard let live = try live(id, at: now, in: db) else { return }
        try announcement.say(.signedOut(of: live.rest), live.user, db)
        try announcement.say(.sessionsEnd([id]), live.user, db)
    }

    /// Ends a session because another user signed in to the browser, or because what it rests on is gone. Its user did
    /// not sign out, so only the end is published.
    static func displace(
        _ id: Session.ID, at now: Timestamp, in db: any Transaction, _ announcement: UserEvents.Announcement
    ) throws {
        guard let live = try live(id, at: now, in: db) else { return }
        try announcement.say(.sessionsEnd([id]), live.user, db)
    }

    /// Ends web views that tokens of `client` bought, or that were bought for it, of as many users as one transaction
    /// should. Returns whether there may be more.
    func endWebViews(of client: Client.ID) async throws -> Bool {
        let now = clock.now
        return try await events.write(to: database, at: now) { db, announcement in
            func webViews(_ condition: SQL) throws -> [(user: UserID, buyer: TokenFamily.Path?)] {
                try db.rows(
                    """
                    SELECT user_id, path FROM sessions
                    WHERE \(condition) AND ended_at IS NULL AND expires_at > \(now) LIMIT \(Self.endedAtOnce)
                    """
                ).map { (try $0.get("user_id"), try $0.get("path")) }
            }
            // Each condition has its own index.
            let (own, forIt) = (try webViews("buyer_id = \(client)"), try webViews("client_id = \(client)"))
            for (user, buyer) in own {
                if let buyer { try announcement.say(.signedOut(of: .bought(by: buyer.family)), user, db) }
            }
            for user in Set((own + forIt).map(\.user)) { try announcement.say(.clientEnds(client), user, db) }
            return own.count == Self.endedAtOnce || forIt.count == Self.endedAtOnce
        }
    }

    /// Ends sessions that rest on the issuer with the id `issuer`, as many as one transaction should. Returns whether
    /// there may be more. Their users did not sign out.
    package func endAsserted(by issuer: String, of merchant: Merchant.ID) async throws -> Bool {
        let now = clock.now
        return try await events.write(to: database, at: now) { db, announcement in
            let ids: [Session.ID] = try db.rows(
                """
                SELECT id FROM sessions
                WHERE issuer_id = \(issuer) AND ended_at IS NULL AND expires_at > \(now) AND (path IS NULL
                    OR client_id IN (SELECT id FROM clients WHERE merchant_id = \(merchant)))
                LIMIT \(Self.endedAtOnce)
                """
            ).map { try $0.get("id") }
            for id in ids { try Self.displace(id, at: now, in: db, announcement) }
            return ids.count == Self.endedAtOnce
        }
    }

    private static let endedAtOnce = 50

    /// Marks sessions as ended. OAuth calls this once it has decided what ends.
    package static func mark(_ ids: [Session.ID], at now: Timestamp, in db: any Transaction) throws {
        try db.execute("UPDATE sessions SET ended_at = \(now) WHERE id IN (\(list: ids)) AND ended_at IS NULL")
    }
}
