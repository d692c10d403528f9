import Directory
import Storage
import Values

// A code for a backend is spent by storing it: of any number of simultaneous attempts, one inserts the row.

extension ExchangeCode {
    /// Stores the code as spent, while the token family that bought it, its client and its user live, and unless the
    /// user took the receiver's access away since it was sold. The caller has seen that it has not expired.
    func spending(for attempt: Attempt) -> SQL {
        """
        INSERT INTO exchange_codes (fingerprint, type, source_family_id, client_id, user_id, scope, signed_in_at,
            expires_at, spent_at, spent_by, family_id)
        SELECT \(id), 'code', p.id, \(client), a.id, \(scope), CAST(\(subject.signedInAt) AS BIGINT),
            CAST(\(expiresAt) AS BIGINT), CAST(\(attempt.now) AS BIGINT), \(attempt.id), \(attempt.family)
        FROM token_families p
        JOIN clients c ON c.id = p.client_id LEFT JOIN merchants m ON m.id = c.merchant_id
        JOIN users a ON a.id = p.user_id
        WHERE p.id = \(source) AND p.ended_at IS NULL AND c.disabled_at IS NULL AND m.disabled_at IS NULL
            AND a.id = \(subject.user) AND a.disabled_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM exchange_code_ends e
                WHERE e.user_id = a.id AND e.client_id = \(client) AND e.ended_at >= \(soldAt))
        ON CONFLICT (fingerprint) DO NOTHING
        """
    }

    /// Whether this attempt has stored it.
    func isSpent(by attempt: Attempt) -> SQL {
        "EXISTS (SELECT 1 FROM exchange_codes WHERE fingerprint = \(id) AND spent_by = \(attempt.id))"
    }

    /// Holds the family that bought the code. Whatever takes access from the user or the app changes its row (`end`,
    /// `ExchangeCodeEnds`), so that of both one runs again: what is stored for the code cannot outlive an end at the
    /// same time.
    func holdingSource(when condition: SQL) -> SQL {
        "UPDATE token_families SET ended_at = ended_at WHERE id = \(source) AND \(condition)"
    }

    func spend(for attempt: Attempt, in db: any Transaction) throws -> Bool {
        guard attempt.now < expiresAt, try db.execute(spending(for: attempt)) == 1 else { return false }
        try db.hold(holdingSource(when: .always))
        return true
    }
}
