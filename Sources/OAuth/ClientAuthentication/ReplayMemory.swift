public import Cryptography
public import Directory
public import Storage
public import Values

/// Remembers the `jti` of what clients signed for as long as it could be replayed, across all nodes.
public struct ReplayMemory: Sendable {
    /// What the `jti` belongs to. A `jti` used in an assertion may be used in a request object too.
    public enum Kind: String, Sendable {
        case assertion = "client"
        case requestObject = "request"
    }

    /// The longest time until the expiry of anything with a `jti`, which bounds the memory.
    public static let longestLife: Duration = .hours(24)
    /// Added to the expiry, because the node that forgets and the node that checks have different clocks.
    private static let margin: Duration = .minutes(5)

    private let database: any Database
    private let random: any RandomSource

    public init(database: any Database, random: any RandomSource) {
        self.database = database
        self.random = random
    }

    /// Notes that `identifier` is used, and returns whether it is for the first time.
    public func isFirst(
        _ identifier: String, in kind: Kind, of client: Client.ID, until end: Timestamp
    ) async throws -> Bool {
        let use = use(of: identifier, in: kind, of: client, until: end)
        return try await database.write { db in try use.isFirst(in: db) }
    }

    /// A use that is recorded in the caller's transaction, together with what it pays for.
    public struct SingleUse: Sendable {
        fileprivate let fingerprint: Fingerprint<Kind>
        /// The id of this use: when the closure runs again after a COMMIT of unknown outcome, it finds its own id.
        fileprivate let taker: String
        fileprivate let end: Timestamp

        /// Whether it is the first. Of two simultaneous uses, the primary key accepts one.
        public func isFirst(in db: any Transaction) throws -> Bool {
            try ReplayMemory.use(fingerprint, by: taker, until: end, in: db) != .usedByAnother
        }
    }

    /// The use of `identifier` by this request, not recorded yet.
    public func use(
        of identifier: String, in kind: Kind, of client: Client.ID, until end: Timestamp
    ) -> SingleUse {
        // Length prefixes keep different lists of parts apart.
        let parts = [kind.rawValue, client.text, identifier].map { "\($0.utf8.count):\($0)" }.joined()
        return SingleUse(
            fingerprint: Fingerprint(of: parts), taker: Identifier<Kind>.random(from: random).text, end: end)
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
