import Directory
import Storage
import Values

// A code for a backend is spent by storing its token family under its id: of simultaneous attempts, one inserts the
// row.

extension ExchangeCode {
    /// Stores the token family of `attempt`, while the buying family, its client and its user live, and the user has
    /// not revoked the receiver's access since the sale. A receiver that is an app must still list the buying client,
    /// so `clients` are the ones it lists now. Nil when the code has expired.
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

    /// Whether `attempt` has stored the family.
    func isSpent(by attempt: Attempt) -> SQL {
        "EXISTS (SELECT 1 FROM token_families WHERE id = \(family) AND redeemed_by = \(attempt.id))"
    }

    /// Holds the family that bought the code. Everything that revokes access of the user or the app changes that row
    /// (`end`, `CodeEnds`), so of two concurrent transactions one runs again, and nothing is stored for the code after
    /// its end.
    func holdingSource(when condition: SQL) -> SQL {
        "UPDATE token_families SET ended_at = ended_at WHERE id = \(source) AND \(condition)"
    }

    func spend(for attempt: Attempt, from clients: [Client.ID]?, in db: any Transaction) throws -> Bool {
        guard let spending = spending(for: attempt, from: clients), try db.execute(spending) == 1 else { return false }
        try db.hold(holdingSource(when: .always))
        return true
    }
}
