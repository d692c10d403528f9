package import Storage
import Values

extension Interaction {
    /// How many wait in total without a signed-in user, and how many with one. Beyond that the oldest are deleted. A
    /// row has at most 12 KB if its request came in a URL, 23 KB if it was posted.
    public static let mostInAll: Int64 = 250_000
    /// The maximum number open in one browser; the oldest is deleted.
    public static let mostOfBrowser: Int64 = 32
}

extension Interactions {
    /// Keeps the newest `most` rows, besides those that a user has signed in for or that a mail links back to. Rows are
    /// not ranked by expiry: finished ones and those of signed-in browsers expire later, and would push out a user who
    /// is typing a password.
    package static func limit(to most: Int64) -> StoredTable.Keeping {
        .beyond(
            "interactionsInAll",
            first: """
                SELECT fingerprint AS first FROM interactions WHERE session IS NULL AND fingerprint > ''
                ORDER BY fingerprint DESC LIMIT \(1) OFFSET \(most)
                """
        ) { first, now, batch in
            """
            DELETE FROM interactions WHERE fingerprint IN (
                SELECT fingerprint FROM interactions
                WHERE session IS NULL AND expires_at <= \(now + Interaction.lifetime) AND fingerprint <= \(first)
                ORDER BY fingerprint LIMIT \(batch))
            """
        }
    }

    /// Keeps the newest `most` interactions in which a user has signed in: one user could begin any number.
    package static func limitOfSignedIn(to most: Int64) -> StoredTable.Keeping {
        .beyond(
            "signedInInteractionsInAll",
            first: """
                SELECT fingerprint AS first FROM interactions WHERE session IS NOT NULL AND fingerprint > ''
                ORDER BY fingerprint DESC LIMIT \(1) OFFSET \(most)
                """
        ) { first, _, batch in
            """
            DELETE FROM interactions WHERE fingerprint IN (
                SELECT fingerprint FROM interactions
                WHERE session IS NOT NULL AND fingerprint <= \(first) ORDER BY fingerprint LIMIT \(batch))
            """
        }
    }
}
