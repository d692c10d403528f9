public import Directory
public import Storage
public import Values

/// The merchants that a user has been introduced to (docs/decisions/introductions.md).
///
/// First-party clients ask for no consent. Without introductions, any page of any merchant could learn who is signed
/// in.
public struct Introductions: Sendable {
    private let database: any Database

    public init(database: any Database) { self.database = database }

    /// Whether `user` must be shown the merchant behind `client` before the client learns anything in `session`.
    public func isDue(_ user: UserID, to client: Client, in session: Session.ID) async throws -> Bool {
        guard client.introduces != nil else { return false }
        return try await database.read { db in try Self.isDue(user, to: client, in: session, db) }
    }

    /// Whether `user` has been introduced to `merchant`, and the account page shows a first-party client of it, at
    /// which the user can revoke that. A client that introduced the two may have been deleted since, or have become a
    /// third party's. `user` and `merchant` are parts of a statement.
    static func haveMet(user: SQL, merchant: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM introductions met WHERE met.user_id = \(user) AND met.merchant_id = \(merchant)
            AND EXISTS (SELECT 1 FROM connections k JOIN clients o ON o.id = k.client_id
                WHERE k.user_id = met.user_id AND o.merchant_id = met.merchant_id AND o.deleted_at IS NULL
                    AND \(ClientRight.shareWithMerchant.held(by: "o"))))
        """
    }

    /// A session bought with a token belongs to one merchant: no other merchant's client can use it.
    static func isDue(
        _ user: UserID, to client: Client, in session: Session.ID, _ db: any Transaction
    ) throws -> Bool {
        guard let merchant = client.introduces else { return false }
        return try !db.rows(
            """
            SELECT 1 AS found FROM merchants m
            WHERE m.id = \(merchant) AND m.skips_introduction = 0
                AND NOT \(haveMet(user: "\(user)", merchant: "m.id"))
                AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = \(session) AND s.path IS NOT NULL)
            """
        ).isEmpty
    }

    /// Stores that `user` continued on a page that named `client` and the merchant it belongs to. The client then
    /// appears on the account page, even if it never redeems a code.
    public func introduce(_ user: UserID, to client: Client, at now: Timestamp) async throws {
        guard let merchant = client.introduces else { return }
        try await database.write { db in
            try Self.introduce(user, to: merchant, at: now, in: db)
            try Connections.connect(user, to: client.id, at: now, in: db)
        }
    }

    /// The same, in the caller's transaction.
    public static func introduce(
        _ user: UserID, to merchant: Merchant.ID, at now: Timestamp, in db: any Transaction
    ) throws {
        try db.execute(
            """
            INSERT INTO introductions (user_id, merchant_id, created_at)
            SELECT CAST(\(user) AS BIGINT), id, CAST(\(now) AS BIGINT) FROM merchants WHERE id = \(merchant)
            ON CONFLICT (user_id, merchant_id) DO NOTHING
            """)
    }

    /// Deletes an introduction: next time `user` is asked again.
    static func forget(_ user: UserID, _ merchant: Merchant.ID, in db: any Transaction) throws {
        try db.execute("DELETE FROM introductions WHERE user_id = \(user) AND merchant_id = \(merchant)")
    }

    /// The same for every merchant except that of the client `kept`.
    static func forgetAll(_ user: UserID, except kept: String, in db: any Transaction) throws {
        try db.execute(
            """
            DELETE FROM introductions WHERE user_id = \(user) AND NOT EXISTS (
                SELECT 1 FROM clients WHERE clients.id = \(kept) AND clients.merchant_id = introductions.merchant_id)
            """)
    }
}

extension Client {
    /// The merchant that users of this client must have been introduced to, if the client is first-party and so asks
    /// for no consent. The platform's own clients act for this server; third-party clients ask for consent themselves.
    public var introduces: Merchant.ID? { may(.skipConsent) ? merchant : nil }
}
