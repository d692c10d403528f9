public import Values

/// Deletes rows that are no longer needed, in batches too small to delay token requests.
public struct Retention: Sendable {
    private let database: any Database
    /// Children before their parents, so that cascades stay small.
    public let rules: [RetentionRule]

    public init(database: any Database, tables: [StoredTable]) {
        self.database = database
        rules = tables.flatMap(\.retention)
    }

    /// The result of one round.
    public struct Sweep: Sendable {
        /// How many rows were deleted.
        public internal(set) var gone = 0
        /// The rules that deleted a full batch: there may be more rows.
        public internal(set) var behind: [RetentionRule] = []
        /// The rules that failed, and why.
        public internal(set) var failures: [(rule: RetentionRule, error: any Error)] = []
    }

    /// Applies each of `rules` once, to at most `batch` rows each, in its own transaction; all rules if `rules` is nil.
    /// A rule that fails does not stop the others.
    public func sweep(_ rules: [RetentionRule]? = nil, at now: Timestamp, batch: Int = 500) async -> Sweep {
        var sweep = Sweep()
        for rule in rules ?? self.rules {
            do {
                guard let (rule, statement) = try await statement(of: rule, now, batch) else { continue }
                let gone = try await database.write { db in try db.execute(statement) }
                sweep.gone += gone
                if gone >= batch { sweep.behind.append(rule) }
            } catch {
                sweep.failures.append((rule, error))
            }
        }
        return sweep
    }

    /// The statement that `rule` deletes with, and the rule to continue with. Nil when there is nothing to delete.
    private func statement(
        of rule: RetentionRule, _ now: Timestamp, _ batch: Int
    ) async throws -> (RetentionRule, SQL)? {
        switch rule.work {
        case .statement(let statement): return (rule, statement(now, batch))
        case .asking(let first, let next):
            let found: String? = try await database.readAside { db in try db.rows(first).first?.get("first") }
            guard let found else { return nil }
            return try await statement(of: next(found), now, batch)
        }
    }
}
