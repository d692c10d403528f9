public import Storage
public import Values

/// Forgets what has no use any more, in batches small enough never to stall issuance.
public struct Retention: Sendable {
    private let database: any Database

    public init(database: any Database) { self.database = database }

    /// A spent code is remembered this long, so that its replay still revokes.
    public static let codeMemory: Duration = .days(1)
    /// A refresh token that expired or was rotated is remembered this long after its expiry, for the same reason.
    public static let refreshMemory: Duration = .days(7)
    /// A permission is remembered this long after its expiry: longer than its refresh tokens, which may outlive it by a
    /// hundredth of a year, and than a session that it bought in its last minute. One that was given in a browser session
    /// stays as long as that.
    public static let permissionMemory: Duration = .days(14)
    /// An address from which somebody signed in is known this long.
    public static let placeMemory: Duration = .days(180)

    /// A try to sign in is remembered this long.
    public static let loginMemory: Duration = .days(90)

    /// A link or a code that came too late is known this long, so that its page can say that it is too late.
    public static let verificationMemory: Duration = .days(1)

    /// What one round came to.
    public struct Sweep: Sendable {
        /// How many rows went.
        public internal(set) var gone = 0
        /// The rules that found a full batch: there may be more.
        public internal(set) var behind: [Rule] = []
        /// The rules that could not be followed, and why.
        public internal(set) var failures: [(rule: Rule, error: any Error)] = []
    }

    /// Follows each of `rules` once, for at most `batch` rows each, in a transaction of its own. A rule that fails keeps
    /// no other from its turn.
    public func sweep(_ rules: [Rule] = Rule.allCases, at now: Timestamp, batch: Int = 500) async -> Sweep {
        var sweep = Sweep()
        for rule in rules {
            let statement = rule.statement(at: now, batch: batch)
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
