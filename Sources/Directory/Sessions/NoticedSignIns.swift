public import Storage
package import Values

/// Sign-ins in browsers of which a site was told that no user is signed in, so that the site asks again.
///
/// Only these browsers have the cookie with the marks, and only a sign-in, or the choice of a user, writes rows.
public struct NoticedSignIns: Sendable {
    /// How long a site relies on the answer.
    public static let memory: Duration = .hours(1)

    /// Stands for one time that a site was told so about a browser.
    public enum Mark {}

    private let database: any Database

    public init(database: any Database) { self.database = database }

    /// Whether a user signed in to the browser with `mark` after `time`.
    package func contain(_ mark: Fingerprint<Mark>, after time: Timestamp) async throws -> Bool {
        try await database.read { db in
            try !db.rows("SELECT mark FROM noticed_sign_ins WHERE mark = \(mark) AND signed_in_at >= \(time)").isEmpty
        }
    }

    /// Notes a sign-in to the browser with `marks`.
    package func note(_ marks: [Fingerprint<Mark>], at now: Timestamp) async throws {
        guard !marks.isEmpty else { return }
        try await database.write { db in try Self.note(marks, at: now, in: db) }
    }

    package static func note(_ marks: [Fingerprint<Mark>], at now: Timestamp, in db: any Transaction) throws {
        // In a fixed order, so that two transactions do not deadlock.
        for mark in marks.sorted(by: { $0.text < $1.text }) {
            try db.execute(
                """
                INSERT INTO noticed_sign_ins (mark, signed_in_at, expires_at)
                VALUES (\(mark), \(now), \(now + memory))
                ON CONFLICT (mark) DO UPDATE
                SET signed_in_at = excluded.signed_in_at, expires_at = excluded.expires_at
                """)
        }
    }
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
