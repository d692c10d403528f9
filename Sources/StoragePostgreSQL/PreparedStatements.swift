import Storage

/// The statements that are prepared on one connection.
struct PreparedStatements {
    private struct Prepared {
        let name: String
        let skeleton: [SQL.Part]
        /// Whether reads that begin with it have further statements.
        var leadsOn = false
    }

    /// More than the program has statements.
    private static let most = 512
    private var all: [SQL.Shape: Prepared] = [:]
    private var count = 0

    /// Whether `more` statements could make it too large.
    func isFull(for more: Int) -> Bool { all.count + more > Self.most }

    mutating func forget() { all.removeAll(keepingCapacity: true) }

    /// The name under which the server knows `sql`.
    func name(of sql: SQL) -> String? { find(sql)?.name }

    mutating func newName() -> String {
        count += 1
        return "s\(count)"
    }

    mutating func add(_ sql: SQL, as name: String) {
        all[sql.shape] = Prepared(name: name, skeleton: sql.skeleton)
    }

    func leadsOn(_ sql: SQL) -> Bool { find(sql)?.leadsOn ?? false }

    mutating func noteLeadsOn(_ sql: SQL) {
        if find(sql) != nil { all[sql.shape]?.leadsOn = true }
    }

    private func find(_ sql: SQL) -> Prepared? {
        guard let prepared = all[sql.shape], sql.hasText(of: prepared.skeleton) else { return nil }
        return prepared
    }
}
