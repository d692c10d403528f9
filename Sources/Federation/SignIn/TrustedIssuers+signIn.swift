public import Directory
import OAuth
import Storage
public import Values

/// The issuers that users can sign in with.
extension TrustedIssuers {
    /// Those of `merchant`, in the order of their registration.
    public func signIns(of merchant: Merchant.ID) async throws -> [TrustedIssuer] {
        try await database.read { db in
            try db.rows(
                """
                SELECT \(Self.columns) FROM issuers
                WHERE merchant_id = \(merchant) AND client_id IS NOT NULL AND disabled_at IS NULL
                ORDER BY created_at, id
                """
            ).map(TrustedIssuer.init)
        }
    }

    /// Those that `user` is linked to.
    public func signIns(connectedTo user: UserID) async throws -> [TrustedIssuer] {
        try await database.read { db in
            try db.rows(
                """
                SELECT \(Self.columns) FROM issuers
                WHERE id IN (SELECT s.issuer_id FROM issuer_subjects s WHERE s.user_id = \(user))
                    AND client_id IS NOT NULL AND disabled_at IS NULL
                ORDER BY created_at, id
                """
            ).map(TrustedIssuer.init)
        }
    }

    /// Those that `user` could be linked to: of merchants whose apps the user uses.
    public func connectable(to user: UserID) async throws -> [TrustedIssuer] {
        try await database.read { db in
            try db.rows(
                """
                SELECT \(Self.columns) FROM issuers
                WHERE merchant_id IN (
                        SELECT c.merchant_id FROM connections n JOIN clients c ON c.id = n.client_id
                        WHERE n.user_id = \(user) AND c.registration_token IS NULL)
                    AND id NOT IN (SELECT s.issuer_id FROM issuer_subjects s WHERE s.user_id = \(user))
                    AND client_id IS NOT NULL AND disabled_at IS NULL
                ORDER BY created_at, id
                """
            ).map(TrustedIssuer.init)
        }
    }

    /// Whether users can still sign in with the issuer `id`.
    static func takesPeople(_ id: TrustedIssuer.ID, in db: any Transaction) throws -> Bool {
        try !db.rows(
            "SELECT id FROM issuers WHERE id = \(id) AND client_id IS NOT NULL AND disabled_at IS NULL"
        ).isEmpty
    }
}
