import Storage

/// An open transaction. BEGIN is sent with the first statement, which saves a round trip.
final class PostgreSQLTransaction: Transaction {
    private var connection: Connection?
    private let opening: String

    /// Whether BEGIN was sent.
    private(set) var hasBegun = false
    /// The first statement that failed; PostgreSQL would refuse every later one.
    private(set) var failure: Failure?

    init(_ connection: Connection, opening: String) {
        self.connection = connection
        self.opening = opening
    }

    func rows(_ sql: SQL) throws -> [Row] { try answer(to: sql).rows() }

    func execute(_ sql: SQL) throws -> Int { try answer(to: sql).changedRows }

    /// Makes the transaction unusable: its closure has returned.
    func end() { connection = nil }

    private func answer(to sql: SQL) throws(StorageError) -> Answer {
        guard let connection else {
            throw .unreadable("a transaction was used after its closure had returned")
        }
        if let failure { throw failure.error }
        do {
            defer { hasBegun = true }
            return try connection.run(sql, after: hasBegun ? nil : opening)
        } catch {
            failure = error
            throw error.error
        }
    }
}
