public import Values

/// Forgets what has no use any more, in batches small enough never to stall issuance.
public struct Retention: Sendable {
    private let database: any Database
    /// Children go before their parents, so that no cascade is large.
    public let rules: [RetentionRule]

    public init(database: any Database, tables: [StoredTable]) {
        self.database = database
        rules = tables.flatMap(\.retention)
    }

    /// What one round came to.
    public struct Sweep: Sendable {
        /// How many rows went.
        public internal(set) var gone = 0
        /// The rules that found a full batch: there may be more.
        public internal(set) var behind: [RetentionRule] = []
        /// The rules that could not be followed, and why.
        public internal(set) var failures: [(rule: RetentionRule, error: any Error)] = []
    }

    /// Follows each of `rules` once, for at most `batch` rows each, in a transaction of its own; without `rules` all that
    /// there are. A rule that fails keeps no other from its turn.
    public func sweep(_ rules: [RetentionRule]? = nil, at now: Timestamp, batch: Int = 500) async -> Sweep {
        var sweep = Sweep()
        for rule in rules ?? self.rules {
            let statement = rule.statement(now, batch)
            do {
                let gone = try await database.write { db in try db.execute(statement) }
                sweep.gone += gone
                if gone >= batch { sweep.behind.append(rule) }
            } catch {
                sweep.failures.append((rule, error))
            }
        }
        return sweep
    }
}
