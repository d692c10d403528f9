import Directory
import Storage
import Values

extension TokenFamilies {
    /// How many token families one user may have at one client. A user with many devices has dozens.
    static let most = 1000
    /// How many at all first-party clients of a merchant together, or of the platform, and how many at its third-party
    /// clients together. A new password ends them in one transaction, and a merchant may have a thousand clients.
    /// Merchants do not share a limit, nor do a merchant and its third parties.
    static let mostAtMerchant = 20_000

    /// Ends a user's oldest token families at a client beyond `most`, and at its merchant beyond `mostAtMerchant`, and
    /// forgets ended and expired ones at the client beyond as many. Otherwise a user who signs in in a loop would fill
    /// the disk and leave more than one sign-out can end.
    ///
    /// Checks one stored family in 256, so that few sign-ins pay for the count. The limit may therefore be exceeded by
    /// some hundreds.
    static func endOldest(
        for family: NewTokenFamily, of user: UserID, telling announcement: CallbackAnnouncement,
        in db: any Transaction
    ) throws {
        guard family.isSampled else { return }
        let now = family.createdAt
        try endOldest(
            of: user, "client_id = \(family.client)", beyond: most, at: now, telling: announcement, in: db)
        try endOldest(
            of: user, atMerchantOf: family.client, beyond: mostAtMerchant, at: now, telling: announcement, in: db)
        try forgetOldest(of: user, family.client, at: now, in: db)
    }

    static func endOldest(
        of user: UserID, atMerchantOf client: Client.ID, beyond kept: Int, at now: Timestamp,
        telling announcement: CallbackAnnouncement, in db: any Transaction
    ) throws {
        // A third party has its own share.
        func isOwn(_ client: SQL) -> SQL { ClientRight.shareWithMerchant.held(by: client) }
        let isOfMerchant: SQL =
            """
            EXISTS (SELECT 1 FROM clients c JOIN clients n ON n.id = \(client)
                WHERE c.id = token_families.client_id
                    AND COALESCE(c.merchant_id, '') = COALESCE(n.merchant_id, '')
                    AND (\(isOwn("c"))) = (\(isOwn("n"))))
            """
        try endOldest(of: user, isOfMerchant, beyond: kept, at: now, telling: announcement, in: db)
    }

    private static func endOldest(
        of user: UserID, _ condition: SQL, beyond kept: Int, at now: Timestamp,
        telling announcement: CallbackAnnouncement, in db: any Transaction
    ) throws {
        let excess = try oldest(
            "user_id = \(user) AND \(condition) AND ended_at IS NULL AND expires_at > \(now)", beyond: kept, in: db)
        guard !excess.isEmpty else { return }
        try Ending.carryOut(.familiesEnd(excess), of: user, telling: announcement, at: now, in: db)
    }

    private static func oldest(_ condition: SQL, beyond kept: Int, in db: any Transaction) throws -> [TokenFamily.ID] {
        try db.rows(
            """
            SELECT id FROM token_families WHERE \(condition)
            ORDER BY created_at DESC, id DESC LIMIT \(most) OFFSET \(kept)
            """
        ).map { try $0.get("id") }
    }

    /// How long a family shows that its exchange code is spent: longer than the code lives, for nodes whose clocks
    /// differ.
    private static let codeMemory: Duration = .minutes(2)

    /// How many token families of its own a client may have. A program that asks for a new token at each request, and
    /// never refreshes, leaves one each time: there are many, and the oldest are unused.
    static let mostOwn = 100_000

    /// The same for the families of a client that acts for itself.
    static func endOldest(for family: NewTokenFamily, in db: any Transaction) throws {
        guard family.isSampled else { return }
        let excess = try oldest(
            "client_id = \(family.client) AND user_id IS NULL AND ended_at IS NULL", beyond: mostOwn, in: db)
        try Ending.mark(excess, at: family.createdAt, in: db)
        _ = try erase(
            """
            SELECT id FROM token_families
            WHERE client_id = \(family.client) AND user_id IS NULL AND ended_at IS NOT NULL AND ended_at > 0
            ORDER BY ended_at DESC LIMIT \(most) OFFSET \(most)
            """, most, in: db)
    }

    /// Deletes ended and expired families beyond `most` of each kind, as many as one transaction should. A family stays
    /// while a refresh token or web view outlives it (`TokenFamilies.memory`), while its exchange code could be
    /// redeemed again, or while something that was got in its web views is left.
    private static func forgetOldest(
        of user: UserID, _ client: Client.ID, at now: Timestamp, in db: any Transaction
    ) throws {
        _ = try erase(
            """
            SELECT id FROM token_families WHERE user_id = \(user) AND client_id = \(client) AND ended_at > 0
                AND (redeemed_by IS NULL OR created_at < \(now - codeMemory))
            ORDER BY ended_at DESC LIMIT \(most) OFFSET \(most)
            """, most, in: db)
        _ = try erase(
            """
            SELECT f.id FROM token_families f
            WHERE f.user_id = \(user) AND f.client_id = \(client) AND f.ended_at IS NULL AND f.expires_at <= \(now)
                AND (f.redeemed_by IS NULL OR f.created_at < \(now - codeMemory))
                AND NOT EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.family_id = f.id AND r.expires_at > \(now))
                AND NOT \(leadsOn)
            ORDER BY f.created_at DESC LIMIT \(most) OFFSET \(most)
            """, most, in: db)
    }
}
