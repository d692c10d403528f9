import Directory
import Storage
import Values

// A code for a backend is spent by storing its token family under its id: of any number of simultaneous attempts, one
// inserts the row.

extension ExchangeCode {
    /// Stores the token family of `attempt`, while the one that bought the code, its client and its user live, and
    /// unless the user took the receiver's access away since it was sold. A receiver that is no backend may have taken
    /// that client off `clients` since, whose tokens buy codes for it. Nil when the code has expired.
    func spending(for attempt: Attempt, from clients: [Client.ID]?) -> SQL? {
        guard attempt.now < expiresAt, let family = attempt.newFamily else { return nil }
        let isOfBuyer: SQL = clients.map { "f.client_id IN (\(list: $0))" } ?? .always
        return TokenFamilies.insertion(
            of: family,
            when: """
                \(ClientRight.buyCodes.held(by: "c")) AND \(isOfBuyer)
                AND NOT \(CodeEnds.condition(
                    user: "\(subject.user)", client: "\(client)", soldAt: "\(soldAt)"))
                """)
    }

    /// Whether this attempt has stored it.
    func isSpent(by attempt: Attempt) -> SQL {
        "EXISTS (SELECT 1 FROM token_families WHERE id = \(family) AND redeemed_by = \(attempt.id))"
    }

    /// Holds the family that bought the code. Whatever takes access from the user or the app changes its row (`end`,
    /// `CodeEnds`), so that of both one runs again: what is stored for the code cannot outlive an end at the
    /// same time.
    func holdingSource(when condition: SQL) -> SQL {
        "UPDATE token_families SET ended_at = ended_at WHERE id = \(source) AND \(condition)"
    }

    func spend(for attempt: Attempt, from clients: [Client.ID]?, in db: any Transaction) throws -> Bool {
        guard let spending = spending(for: attempt, from: clients), try db.execute(spending) == 1 else { return false }
        try db.hold(holdingSource(when: .always))
        return true
    }
}
