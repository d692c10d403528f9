public import Cryptography
public import Directory
public import Storage
public import Values

/// Remembers the `jti` of what clients signed while it could be replayed: no node accepts one twice.
public struct ReplayMemory: Sendable {
    /// What the `jti` belongs to. A `jti` used in an assertion may be used in a request object too.
    public enum Kind: String, Sendable {
        case assertion = "client"
        case requestObject = "request"
    }

    /// The longest time until the expiry of anything with a `jti`, so that nothing is remembered for ever.
    public static let longestLife: Duration = .hours(24)
    /// Added to the expiry, because the clocks of the node that forgets and the node that checks differ.
    private static let margin: Duration = .minutes(5)

    private let database: any Database
    private let random: any RandomSource

    public init(database: any Database, random: any RandomSource) {
        self.database = database
        self.random = random
    }

    /// Whether `identifier` is used for the first time. Of two simultaneous uses, the primary key accepts one.
    public func isFirst(
        _ identifier: String, in kind: Kind, of client: Client.ID, until end: Timestamp
    ) async throws -> Bool {
        // Each part has its length, so that no two lists of parts have the same text.
        let parts = [kind.rawValue, client.text, identifier].map { "\($0.utf8.count):\($0)" }.joined()
        let fingerprint = Fingerprint<Kind>(of: parts)
        // The id of this use: when the closure runs again after a COMMIT of unknown outcome, it finds its own id.
        let taker = Identifier<Kind>.random(from: random)
        return try await database.write { db in
            try Self.use(fingerprint, by: taker.text, until: end, in: db) != .usedByAnother
        }
    }

    /// The outcome of an attempt to use something once.
    package enum Use: Sendable { case first, usedBefore, usedByAnother }

    /// Notes in the caller's transaction that `attempt` used `fingerprint`. Of several attempts, one is first.
    package static func use<Of>(
        _ fingerprint: Fingerprint<Of>, by attempt: String, until end: Timestamp, in db: any Transaction
    ) throws -> Use {
        let rows = try db.execute(
            """
            INSERT INTO used_assertions (fingerprint, used_by, expires_at)
            VALUES (\(fingerprint), \(attempt), \(end + margin)) ON CONFLICT (fingerprint) DO NOTHING
            """)
        guard rows == 0 else { return .first }
        let usedBy: String? = try db.rows(
            "SELECT used_by FROM used_assertions WHERE fingerprint = \(fingerprint)"
        ).first?.get("used_by")
        return usedBy == attempt ? .usedBefore : .usedByAnother
    }
}
