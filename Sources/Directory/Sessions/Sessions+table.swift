import Storage
import Values

extension Sessions {
    /// A row stays until its session would have expired, ended or not: ending a session moves no row.
    static let table = StoredTable(
        "sessions", retention: [.rows("sessions", key: "id", until: "expires_at")],
        ofUser: .batches(owner: "user_id", key: "id"), ofMerchant: .batches(owner: "merchant_id", key: "id"),
        export: [Sessions.export])
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
        ], ofUser: .withParent, ofClient: .expiry,
        export: [export])
}

extension NoticedSignIns {
    static let table = StoredTable(
        "noticed_sign_ins",
        retention: [
            .rows("noticedSignIns", key: "mark", until: "expires_at"),
            // Otherwise a user who picks a session over and over, with made-up marks, would fill the disk.
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
