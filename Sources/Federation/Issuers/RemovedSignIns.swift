import Directory
import JSON
import Storage
import Values

/// The sign-ins that users have removed from their accounts, until they connect them again. A row names a merchant, an
/// issuer there, and the provider it stands for. It outlives the issuer's deletion and new registration. For a provider
/// it counts at all merchants, because a user removes Google, not a merchant's Google.
enum RemovedSignIns {
    static let table = StoredTable(
        "removed_sign_ins", ofUser: .cascade,
        // A provider's row counts at other merchants.
        ofMerchant: .steps { merchant, batch, db in
            let its: SQL = "merchant_id = \(merchant) AND provider IS NULL"
            return try db.execute(
                """
                DELETE FROM removed_sign_ins WHERE \(its) AND user_id IN (
                    SELECT user_id FROM removed_sign_ins WHERE \(its) LIMIT \(batch))
                """)
        }, export: [export])

    private static let export = StoredTable.Export.member("removed_sign_ins") { user, db in
        .array(
            try db.rows(
                "SELECT issuer, subject, created_at FROM removed_sign_ins WHERE user_id = \(user)"
            ).map { row in
                let subject: String = try row.get("subject")
                return .members([
                    "issuer": .string(try row.get("issuer")), "subject": subject.isEmpty ? nil : .string(subject),
                    "since": try row.utc("created_at"),
                ])
            })
    }

    /// Notes that `user` has removed `subject` of `issuer`. `subject` is nil when a merchant's app had attached it: it
    /// may belong to another user, who must not be locked out.
    static func note(
        _ subject: String?, of issuer: TrustedIssuer.ID, by user: UserID, at now: Timestamp, in db: any Transaction
    ) throws {
        try db.execute(
            """
            INSERT INTO removed_sign_ins (user_id, merchant_id, issuer, provider, subject, created_at)
            SELECT \(user), merchant_id, issuer, provider, \(subject ?? ""), \(now)
            FROM issuer_settings WHERE issuer_id = \(issuer)
            ON CONFLICT DO NOTHING
            """)
    }

    /// Whether a row `r` is about `issuer`, or about the provider that it stands for.
    private static func isOf(_ issuer: TrustedIssuer.ID, row r: SQL) -> SQL {
        """
        EXISTS (
            SELECT 1 FROM issuer_settings o
            WHERE o.issuer_id = \(issuer)
                AND (\(r).merchant_id = o.merchant_id AND \(r).issuer = o.issuer OR \(r).provider = o.provider))
        """
    }

    /// Whether `user` has removed a sign-in of `issuer`, or of the provider that it stands for.
    static func has(_ user: UserID, removed issuer: TrustedIssuer.ID, in db: any Transaction) throws -> Bool {
        try !db.rows(
            "SELECT 1 AS found FROM removed_sign_ins r WHERE r.user_id = \(user) AND \(isOf(issuer, row: "r"))"
        ).isEmpty
    }

    /// Whether any user has removed `subject` there, and can connect it again where they removed it.
    static func contain(
        _ subject: String, of issuer: TrustedIssuer.ID, in db: any Transaction
    ) throws -> Bool {
        try !db.rows(
            """
            SELECT 1 AS found FROM removed_sign_ins r
            WHERE r.subject = \(subject) AND r.subject <> '' AND \(isOf(issuer, row: "r")) AND EXISTS (
                SELECT 1 FROM \(TrustedIssuers.stored)
                WHERE s.merchant_id = r.merchant_id AND s.issuer = r.issuer AND \(TrustedIssuers.takesUsers))
            """
        ).isEmpty
    }

    /// Selects the ids of the issuers where `user` has removed a sign-in.
    static func issuers(removedBy user: UserID) -> SQL {
        """
        SELECT o.issuer_id FROM removed_sign_ins r
        JOIN issuer_settings o ON o.merchant_id = r.merchant_id AND o.issuer = r.issuer
        WHERE r.user_id = \(user)
        """
    }

    /// Forgets the removal, because the user has connected an account at `issuer` again: at that issuer, and at its
    /// provider everywhere.
    static func forget(_ issuer: TrustedIssuer.ID, by user: UserID, in db: any Transaction) throws {
        try db.execute(
            "DELETE FROM removed_sign_ins WHERE user_id = \(user) AND \(isOf(issuer, row: "removed_sign_ins"))")
    }

    /// Forgets all removals of a user: another user may have made and removed the links.
    static func forgetAll(of user: UserID, in db: any Transaction) throws {
        try db.execute("DELETE FROM removed_sign_ins WHERE user_id = \(user)")
    }
}
