public import Cryptography
public import Directory
public import Storage
public import Values

/// Remembers the `jti` of what clients signed, for as long as it could be shown again: none is taken twice, on whichever node.
public struct ReplayMemory: Sendable {
    /// What a `jti` stood in: one of an assertion spends no request.
    public enum Kind: String, Sendable {
        case assertion = "client"
        case requestObject = "request"
    }

    /// How far ahead what has a `jti` may end: nothing is remembered for ever.
    public static let longestLife: Duration = .hours(24)
    /// Remembered a little beyond its end: the node that forgets it and the one that is asked have clocks of their own.
    private static let margin: Duration = .minutes(5)

    private let database: any Database
    private let random: any RandomSource

    public init(database: any Database, random: any RandomSource) {
        self.database = database
        self.random = random
    }

    /// Whether nobody has shown `identifier` before: of two at once, the key lets one in.
    public func isFirst(
        _ identifier: String, in kind: Kind, of client: Client.ID, until end: Timestamp
    ) async throws -> Bool {
        // Each part with its length, so that no two lists of parts read alike.
        let parts = [kind.rawValue, client.text, identifier].map { "\($0.utf8.count):\($0)" }.joined()
        let fingerprint = Fingerprint<Kind>(of: parts)
        // Who took it: what runs again after a COMMIT of unknown outcome finds itself there.
        let taker = Identifier<Kind>.random(from: random)
        return try await database.write { db in
            try Self.use(fingerprint, by: taker.text, until: end, in: db) != .usedByAnother
        }
    }

    /// What became of an attempt to use something once.
    package enum Use: Sendable { case first, usedBefore, usedByAnother }

    /// Notes in the caller's transaction that `attempt` used what has this fingerprint: of several, one is first.
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
