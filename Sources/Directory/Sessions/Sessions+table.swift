package import Storage
package import Values

extension Sessions {
    /// A row stays until its session would have expired, ended or not: ending one moves nothing.
    static let table = StoredTable(
        "sessions", retention: [.rows("sessions", key: "id", until: "expires_at")],
        ofUser: .batches(owner: "user_id", key: "id"), ofMerchant: .batches(owner: "merchant_id", key: "id"),
        export: [Sessions.export])
}

/// The issuers that are disabled, and those that are gone: the sessions and tokens that rest on them are refused.
package enum ClosedIssuers {
    static let table = StoredTable("closed_issuers")

    /// The statement that forgets up to `batch` issuers that are gone, unless a session rests on them, or a token: that
    /// is for modules above to tell, by a condition on `c.issuer_id`.
    package static func forgetting(unless isNeeded: SQL, batch: Int) -> SQL {
        """
        DELETE FROM closed_issuers WHERE issuer_id IN (
            SELECT c.issuer_id FROM closed_issuers c
            WHERE c.is_gone = 1 AND c.issuer_id > ''
                AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.issuer_id = c.issuer_id AND s.ended_at IS NULL)
                AND NOT \(isNeeded)
            ORDER BY c.issuer_id LIMIT \(batch))
        """
    }

    /// Notes that the issuer with the id `issuer` is disabled, or is not, in the transaction that changes it. Sessions
    /// that rest on it are refused everywhere, tokens at the clients of its `merchant`.
    package static func note(
        _ issuer: String, of merchant: Merchant.ID, isClosed: Bool, in db: any Transaction
    ) throws {
        try db.execute(
            isClosed
                ? """
                INSERT INTO closed_issuers (issuer_id, merchant_id) VALUES (\(issuer), \(merchant))
                ON CONFLICT (issuer_id) DO UPDATE SET merchant_id = excluded.merchant_id
                """
                : "DELETE FROM closed_issuers WHERE issuer_id = \(issuer)")
    }

    /// The ids of issuers that are gone and on which live sessions rest. One that another merchant's token bought goes
    /// on.
    package static func restedOn(atMost most: Int, at now: Timestamp, in db: any Transaction) throws -> [String] {
        try db.rows(
            """
            SELECT c.issuer_id FROM closed_issuers c
            WHERE c.is_gone = 1 AND c.issuer_id > '' AND EXISTS (
                SELECT 1 FROM sessions s
                WHERE s.issuer_id = c.issuer_id AND s.ended_at IS NULL AND s.expires_at > \(now)
                    AND (s.path IS NULL
                        OR s.client_id IN (SELECT k.id FROM clients k WHERE k.merchant_id = c.merchant_id)))
            ORDER BY c.issuer_id LIMIT \(most)
            """
        ).map { try $0.get("issuer_id") }
    }

    /// Notes that the issuer is gone, in the transaction that deletes it.
    package static func noteGone(
        _ issuer: String, of merchant: any SQLBindable & Sendable, in db: any Transaction
    ) throws {
        try db.execute(
            """
            INSERT INTO closed_issuers (issuer_id, merchant_id, is_gone) VALUES (\(issuer), \(merchant), 1)
            ON CONFLICT (issuer_id) DO UPDATE SET is_gone = 1, merchant_id = excluded.merchant_id
            """)
        try ConfinedIssuers.forget(issuer, in: db)
    }
}

extension HostSessions {
    static let table = StoredTable(
        "host_sessions",
        retention: [
            .statement("hostSessions") { now, batch in
                """
                DELETE FROM host_sessions WHERE (session_id, client_id, host) IN (
                    SELECT session_id, client_id, host FROM host_sessions
                    WHERE expires_at <= \(now) ORDER BY expires_at LIMIT \(batch))
                """
            }
        ], ofUser: .withParent, ofClient: .withParent,
        export: [export])
}

extension NoticedSignIns {
    static let table = StoredTable(
        "noticed_sign_ins",
        retention: [
            .rows("noticedSignIns", key: "mark", until: "expires_at"),
            // A user who picks over and over, with marks of their own making, would fill the disk.
            .beyond(
                "noticedSignInsInAll",
                first: """
                    SELECT CAST(expires_at AS TEXT) AS first FROM noticed_sign_ins WHERE expires_at > 0
                    ORDER BY expires_at DESC LIMIT 1 OFFSET 100000
                    """
            ) { first, _, batch in
                """
                DELETE FROM noticed_sign_ins WHERE mark IN (
                    SELECT mark FROM noticed_sign_ins WHERE expires_at <= CAST(\(first) AS BIGINT)
                    ORDER BY expires_at LIMIT \(batch))
                """
            },
        ])
}
