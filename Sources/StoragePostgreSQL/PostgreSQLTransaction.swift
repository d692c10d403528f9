import Storage

/// An open transaction. BEGIN is sent with the first statement, and what is enqueued with the next, or with COMMIT.
final class PostgreSQLTransaction: Transaction {
    private static let mostQueued = 32

    private var connection: Connection?
    private let mode: Session.Mode
    /// BEGIN, and a lock that must be taken before the snapshot.
    private let opening: [SQL]
    private var queued: [SQL] = []
    /// The one statement of a read so far, which needs no BEGIN, because it is its own snapshot.
    private var lone: SQL?

    /// The first statement.
    private(set) var first: SQL?
    /// Whether BEGIN was sent.
    private(set) var hasBegun = false
    /// The first statement that failed; PostgreSQL would refuse every later one.
    private(set) var failure: Failure?

    init(_ connection: Connection, _ mode: Session.Mode, locking lock: SQL?) {
        self.connection = connection
        self.mode = mode
        opening = [mode.opening] + (lock.map { [$0] } ?? [])
    }

    func rows(_ sql: SQL) throws -> [Row] { try answer(to: sql, mayBeAlone: mode == .read).rows() }

    func execute(_ sql: SQL) throws -> Int { try answer(to: sql, mayBeAlone: false).changedRows }

    func enqueue(_ sql: SQL) throws {
        guard queued.count < Self.mostQueued else { return _ = try execute(sql) }
        try confirmUsable()
        if first == nil { first = sql }
        queued.append(sql)
    }

    func hold(_ sql: SQL) throws { try enqueue(sql) }

    /// Makes the transaction unusable: its closure has returned.
    func end() { connection = nil }

    /// Whether there is anything to commit.
    var needsCommit: Bool { hasBegun || !queued.isEmpty }

    /// The statements that remain to be sent, including COMMIT.
    func closing() -> [SQL] {
        defer { hasBegun = true }
        return (hasBegun ? [] : opening) + queued + [Session.commit]
    }

    private func answer(to sql: SQL, mayBeAlone: Bool) throws(StorageError) -> Answer {
        let connection = try confirmUsable()
        if first == nil { first = sql }
        do throws(Failure) {
            if let lone {
                connection.noteLeadsOn(lone)
                throw .needsSnapshot
            }
            if mayBeAlone, !hasBegun, !connection.leadsOn(sql) {
                lone = sql
                return try connection.run([sql])
            }
            let statements = (hasBegun ? [] : opening) + queued + [sql]
            hasBegun = true
            queued = []
            return try connection.run(statements)
        } catch {
            failure = error
            throw error.error
        }
    }

    @discardableResult
    private func confirmUsable() throws(StorageError) -> Connection {
        guard let connection else { throw .unreadable("a transaction was used after its closure had returned") }
        if let failure { throw failure.error }
        return connection
    }
}
