import Storage

/// A connection that only reads.
struct Reader: Sendable {
    private let connection: Connection

    init(_ path: String, _ files: OpenFiles, longestRead: Duration) throws(StorageError) {
        connection = try .forReading(path, files)
        connection.limitReads(to: longestRead)
    }

    /// Whether the last read has left its snapshot: a reader that kept it would return old rows forever.
    var isClean: Bool { !connection.isInTransaction }

    /// Runs `work` on one snapshot.
    func read<Value>(_ work: (any Transaction) throws -> Value) throws -> Value {
        try connection.run(.begin)
        connection.readBegins()
        let transaction = SQLiteTransaction(connection, .never)
        defer {
            transaction.end()
            // A transaction that only read has nothing to lose, so it does not matter if ending it fails.
            do { try connection.run(.commit) } catch { try? connection.run(.rollBack) }
        }
        return try work(transaction)
    }

    func close() { connection.close() }
}
