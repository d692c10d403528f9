public import Directory
import OAuth
public import Storage
public import Values

/// The issuers that users can sign in with.
extension TrustedIssuers {
    /// Whether an issuer, so `stored`, takes users: a merchant that is disabled, or about to be deleted, opens nothing
    /// by its own.
    static let takesUsers: SQL =
        """
        s.client_id IS NOT NULL AND i.disabled_at IS NULL
        AND EXISTS (SELECT 1 FROM merchants m
            WHERE m.id = s.merchant_id AND m.disabled_at IS NULL AND m.deleted_at IS NULL)
        """

    /// Those of `merchant`, in the order of their registration.
    public func signIns(of merchant: Merchant.ID) async throws -> [TrustedIssuer] {
        try await database.read { db in
            try db.rows(
                """
                SELECT \(Self.columns) FROM \(Self.stored)
                WHERE s.merchant_id = \(merchant) AND \(Self.takesUsers)
                ORDER BY created_at, s.issuer_id
                """
            ).map(TrustedIssuer.init)
        }
    }

    /// Those that `user` is linked to, and not for one merchant's applications alone.
    public func signIns(connectedTo user: UserID) async throws -> [TrustedIssuer] {
        try await database.read { db in try Self.signIns(connectedTo: user, by: .always, in: db) }
    }

    /// The same, by links `l` for which `condition` holds.
    static func signIns(
        connectedTo user: UserID, by condition: SQL, in db: any Transaction
    ) throws -> [TrustedIssuer] {
        try db.rows(
            """
            SELECT \(columns) FROM \(stored)
            WHERE s.issuer_id IN (
                    SELECT l.issuer_id FROM issuer_subjects l
                    WHERE l.user_id = \(user) AND l.is_confined = 0 AND \(condition))
                AND \(takesUsers)
            ORDER BY created_at, s.issuer_id
            """
        ).map(TrustedIssuer.init)
    }

    /// Those that `user` could be linked to: of merchants whose apps the user uses, and those that the user has
    /// removed. Also those that an app linked for its merchant's applications alone, which the user may want
    /// everywhere.
    public func connectable(to user: UserID) async throws -> [TrustedIssuer] {
        try await database.read { db in
            try db.rows(
                """
                SELECT \(Self.columns) FROM \(Self.stored)
                WHERE (s.merchant_id IN (
                            SELECT c.merchant_id FROM connections n JOIN clients c ON c.id = n.client_id
                            WHERE n.user_id = \(user) AND \(ClientRight.belongToMerchant.held(by: "c")))
                        OR s.issuer_id IN (\(RemovedSignIns.issuers(removedBy: user))))
                    AND s.issuer_id NOT IN (
                        SELECT l.issuer_id FROM issuer_subjects l WHERE l.user_id = \(user) AND l.is_confined = 0)
                    AND \(Self.takesUsers)
                ORDER BY created_at, s.issuer_id
                """
            ).map(TrustedIssuer.init)
        }
    }

    /// Whether users can still sign in with the issuer `id`, and to all merchants.
    public static func takesUsersToAll(_ id: TrustedIssuer.ID, in db: any Transaction) throws -> Bool {
        try takesUsers(id, in: db) && find(id, in: db)?.isTrustedByAll == true
    }

    /// Whether users can still sign in with the issuer `id`.
    public static func takesUsers(_ id: TrustedIssuer.ID, in db: any Transaction) throws -> Bool {
        try !db.rows("SELECT s.issuer_id FROM \(stored) WHERE s.issuer_id = \(id) AND \(takesUsers)").isEmpty
    }
}
