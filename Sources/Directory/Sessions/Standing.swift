package import Storage
package import Values

/// Whether something that rests on a sign-in is good: the one statement and the one value that decide it
/// (docs/model.md). Expiry is left to the reader, who knows the time.
package enum Standing: Sendable, Equatable {
    case live
    /// Good for nothing while its client, merchant or issuer is disabled. The reason is for the log.
    case rests(String)
    /// Over permanently. The reason is for the log.
    case ended(String)

    // MARK: Token families

    /// Joins what tokens rest on to their rows. `holder` is a token, or a family itself, with its client and user; `f`
    /// is the family. An issuer's standing counts only for the clients of its own merchant.
    package static func whatTokensRestOn(of holder: SQL) -> SQL {
        """
        JOIN clients c ON c.id = \(holder).client_id
        LEFT JOIN merchants m ON m.id = c.merchant_id
        LEFT JOIN users u ON u.id = \(holder).user_id
        LEFT JOIN issuers i ON i.id = f.issuer_id AND i.merchant_id = c.merchant_id
        """
    }

    /// The columns that `init` reads from rows so joined.
    package static let columns: SQL.Columns =
        """
        f.ended_at, c.disabled_at AS client_disabled_at, m.disabled_at AS merchant_disabled_at, u.id AS user_found,
        u.disabled_at AS user_disabled_at, u.deletion_due_at, i.disabled_at AS issuer_disabled_at,
        i.gone_at AS issuer_gone_at
        """

    /// Whether a user's family, so joined, is live.
    package static let ofFamily: SQL =
        """
        f.ended_at IS NULL AND c.disabled_at IS NULL AND m.disabled_at IS NULL AND u.disabled_at IS NULL
            AND u.deletion_due_at IS NULL AND i.disabled_at IS NULL AND i.gone_at IS NULL
        """

    /// The standing that each column stands for when it is set; ends come before rests.
    private static let reasons: [(column: String, standing: Standing)] = [
        ("user_disabled_at", .ended("user_disabled")), ("deletion_due_at", .ended("user_leaving")),
        ("ended_at", .ended("token_family_ended")), ("client_disabled_at", .rests("client_disabled")),
        ("merchant_disabled_at", .rests("merchant_disabled")), ("issuer_disabled_at", .rests("issuer_disabled")),
        // A batch to come ends it.
        ("issuer_gone_at", .rests("issuer_gone")),
    ]

    /// The standing of a family in `row`, of `user` or of its client.
    package init(_ row: Row, of user: UserID?) throws {
        func isSet(_ column: String) throws -> Bool { try row.get(column, as: Int64?.self) != nil }
        if user != nil, try !isSet("user_found") {
            self = .ended("user_deleted")
        } else {
            self = try Self.reasons.first { try isSet($0.column) }?.standing ?? .live
        }
    }

    // MARK: Sessions

    /// Joins to `sessions s` what a session rests on: its user, the client that it is for (`c`), the client whose token
    /// bought it, the merchant it is bought from or good for, and the issuer that vouched (`i`).
    package static let whatSessionsRestOn: SQL =
        """
        JOIN users u ON u.id = s.user_id
        LEFT JOIN clients c ON c.id = s.client_id
        LEFT JOIN clients b ON b.id = s.buyer_id
        LEFT JOIN issuers i ON i.id = s.issuer_id AND (s.path IS NULL OR i.merchant_id = c.merchant_id)
        LEFT JOIN merchants m ON m.id = COALESCE(\(Issuers.merchant), c.merchant_id)
        """

    /// Whether a session so joined is live. What it rests on must exist: rows of deleted clients are gone, while their
    /// sessions stay until they expire. An issuer of another merchant is not joined to a web view.
    package static let ofSession: SQL =
        """
        s.ended_at IS NULL AND u.disabled_at IS NULL AND u.deletion_due_at IS NULL AND c.disabled_at IS NULL
            AND b.disabled_at IS NULL AND m.disabled_at IS NULL AND i.disabled_at IS NULL AND i.gone_at IS NULL
            AND CASE WHEN s.path IS NULL THEN s.issuer_id IS NULL OR i.id IS NOT NULL
                ELSE c.id IS NOT NULL AND b.id IS NOT NULL END
        """
}
