package import Storage
package import Values

/// Sessions that are ended on request, and announced. How long their rows stay is in Sessions+table.swift.
extension Sessions {
    /// A live session, before it ends.
    package struct Live {
        package let user: UserID
        package let rest: UserEvent.SignedOutSession
    }

    /// The session `id`, unless it has ended or expired.
    static func live(_ id: Session.ID, at now: Timestamp, in db: any Transaction) throws -> Live? {
        try db.rows(
            """
            SELECT s.user_id, s.family_id, \(ConfinedIssuers.merchant) AS merchant_id
            FROM sessions s \(ConfinedIssuers.joined)
            WHERE s.id = \(id) AND s.ended_at IS NULL AND s.expires_at > \(now)
            """
        ).first.map { row in
            Live(user: try row.get("user_id"), rest: try rest(row))
        }
    }

    private static func rest(_ row: Row) throws -> UserEvent.SignedOutSession {
        if let family = try row.get("family_id", as: TokenFamily.ID?.self) { return .bought(by: family) }
        return try row.get("merchant_id", as: Merchant.ID?.self).map { .confined(to: $0) } ?? .signIn
    }

    /// Ends the sessions of `secrets` that have not ended, whatever they rest on; or of these only those that are good
    /// for `merchant` alone. Whether there were any.
    @discardableResult
    package func endResting(_ secrets: [Secret<Session>], of merchant: Merchant.ID? = nil) async throws -> Bool {
        guard !secrets.isEmpty else { return false }
        let now = clock.now
        let ids: [Session.ID] = try await database.read { db in
            try db.rows(
                """
                SELECT s.id, COALESCE(\(ConfinedIssuers.merchant), c.merchant_id) AS merchant
                FROM sessions s LEFT JOIN clients c ON c.id = s.client_id \(ConfinedIssuers.joined)
                WHERE s.fingerprint IN (\(list: secrets.map(\.fingerprint))) AND s.ended_at IS NULL
                    AND s.expires_at > \(now)
                """
            ).filter { row in
                try merchant == nil || row.get("merchant", as: Merchant.ID?.self) == merchant
            }.map { try $0.get("id") }
        }
        if !ids.isEmpty { try await end(ids) }
        return !ids.isEmpty
    }

    /// Ends a session and announces it, once; not if it had ended already.
    static func end(
        _ id: Session.ID, at now: Timestamp, in db: any Transaction, _ announcement: UserEvents.Announcement
    ) throws {
        let live = try live(id, at: now, in: db)
        guard try mark(id, at: now, in: db), let live else { return }
        try announcement.say(.signedOut(of: live.rest), live.user, db)
        try announcement.say(.browserEnded(id), live.user, db)
    }

    /// Ends sessions that tokens of `client` bought, or that were bought for it, as many as one transaction should.
    /// Whether there may be more.
    func endBought(byOrFor client: Client.ID) async throws -> Bool {
        if try await endSome("buyer_id = \(client)", by: Self.end) { return true }
        // Nobody signed out of the app whose token bought it.
        return try await endSome("client_id = \(client)", by: Self.displace)
    }

    /// Ends sessions that rest on the issuer with the id `issuer`, as above. Nobody signed out.
    package func endAsserted(by issuer: String, of merchant: Merchant.ID) async throws -> Bool {
        try await endSome(
            """
            issuer_id = \(issuer) AND (family_id IS NULL
                OR client_id IN (SELECT id FROM clients WHERE merchant_id = \(merchant)))
            """, by: Self.displace)
    }

    private typealias Ending =
        @Sendable (Session.ID, _ now: Timestamp, any Transaction, UserEvents.Announcement) throws -> Void

    private func endSome(_ which: SQL, by end: @escaping Ending) async throws -> Bool {
        let now = clock.now
        return try await events.write(to: database, at: now) { db, announcement in
            let ids = try Self.live(which, atMost: Self.endedAtOnce, at: now, in: db)
            for id in ids { try end(id, now, db, announcement) }
            return ids.count == Self.endedAtOnce
        }
    }

    private static let endedAtOnce = 50

    /// Ends sessions of `user` for which `condition` holds, except `kept`. Nobody signed out.
    private static func displace(
        of user: UserID, _ condition: SQL, except kept: Session.ID?, in db: any Transaction,
        _ announcement: UserEvents.Announcement
    ) throws {
        let now = announcement.now
        let ids = try live("user_id = \(user) AND \(condition) AND id <> \(kept?.text ?? "")", at: now, in: db)
        for id in ids { try displace(id, at: now, in: db, announcement) }
    }

    private static func live(
        _ condition: SQL, atMost most: Int = .max, at now: Timestamp, in db: any Transaction
    ) throws -> [Session.ID] {
        try db.rows(
            "SELECT id FROM sessions WHERE \(condition) AND ended_at IS NULL AND expires_at > \(now) LIMIT \(most)"
        ).map { try $0.get("id") }
    }

    /// Ends the sessions that were bought for `client`, and those at hosts of its site, in the transaction that makes a
    /// client of this id again.
    package static func end(for client: Client.ID, at now: Timestamp, in db: any Transaction) throws {
        try db.execute("DELETE FROM host_sessions WHERE client_id = \(client)")
        try db.execute("UPDATE sessions SET ended_at = \(now) WHERE client_id = \(client) AND ended_at IS NULL")
    }

    /// Ends a session because somebody else signed in to the browser, or what it rests on is gone. Nobody signed out,
    /// so only its end is announced.
    static func displace(
        _ id: Session.ID, at now: Timestamp, in db: any Transaction, _ announcement: UserEvents.Announcement
    ) throws {
        let live = try live(id, at: now, in: db)
        guard try mark(id, at: now, in: db), let live else { return }
        try announcement.say(.browserEnded(id), live.user, db)
    }

    private static func markAll(
        of user: UserID, except kept: Session.ID?, at now: Timestamp, in db: any Transaction
    ) throws {
        try db.execute(
            """
            UPDATE sessions SET ended_at = \(now)
            WHERE user_id = \(user) AND id <> \(kept?.text ?? "") AND ended_at IS NULL
            """)
    }

    /// Ends sessions when all sessions of a user end.
    public static let subscriber = UserEvents.Subscriber(
        "Sessions",
        [
            .on(.everyBrowserEnded, "ends the browser sessions") { event, user, announcement, db in
                guard case .everyBrowserEnded(let kept) = event else { return }
                try markAll(of: user, except: kept, at: announcement.now, in: db)
            },
            .on(.accessRevoked, "ends the browser sessions, except the one of the request") {
                event, user, announcement, db in
                guard case .accessRevoked(let kept) = event else { return }
                try markAll(of: user, except: kept, at: announcement.now, in: db)
            },
            .on(.unlinked, "ends the browser sessions that rest on that issuer, except the one of the request") {
                event, user, announcement, db in
                guard case .unlinked(let issuer, let kept, _) = event else { return }
                try displace(of: user, "issuer_id = \(issuer)", except: kept, in: db, announcement)
            },
            .on(.methodRevoked, "ends the browser sessions that were opened so, except the one of the request") {
                event, user, announcement, db in
                guard case .methodRevoked(let method, let kept) = event else { return }
                try displace(of: user, "method = \(method.rawValue)", except: kept, in: db, announcement)
            },
            .on(.disconnected, "ends the browser sessions that are good for that merchant alone, and its web views") {
                event, user, announcement, db in
                guard case .disconnected(let merchant) = event else { return }
                let now = announcement.now
                // Nobody signed out: other merchants' clients have nothing to hear of it.
                let isOfMerchant: SQL =
                    """
                    merchant_id = \(merchant) OR family_id IS NOT NULL
                        AND client_id IN (SELECT id FROM clients WHERE merchant_id = \(merchant))
                    OR family_id IS NULL AND EXISTS (
                        SELECT 1 FROM confined_issuers n
                        WHERE n.issuer_id = sessions.issuer_id AND n.merchant_id = \(merchant)
                            AND sessions.created_at < n.opened_before)
                    """
                let ids = try live("user_id = \(user) AND (\(isOfMerchant))", at: now, in: db)
                for id in ids { try displace(id, at: now, in: db, announcement) }
            },
        ])

    /// Forgets that `token` bought live sessions.
    package static func forget<Of>(buyer token: Fingerprint<Of>, in db: any Transaction) throws {
        try db.execute("UPDATE sessions SET bought_with = NULL WHERE bought_with = \(token) AND ended_at IS NULL")
    }

    /// Ends the sessions that `family` bought. OAuth calls this in the transaction that ends the family, and tells
    /// clients.
    package static func endBought(by family: TokenFamily.ID, at now: Timestamp, in db: any Transaction) throws {
        try db.execute("UPDATE sessions SET ended_at = \(now) WHERE family_id = \(family) AND ended_at IS NULL")
    }

    /// Ends one session and tells nobody. Returns whether this call ended it.
    @discardableResult
    package static func mark(_ id: Session.ID, at now: Timestamp, in db: any Transaction) throws -> Bool {
        try db.execute("UPDATE sessions SET ended_at = \(now) WHERE id = \(id) AND ended_at IS NULL") == 1
    }
}
