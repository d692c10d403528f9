public import Cryptography
public import Values

/// The signing keys at hand: read rarely, used for every token.
public actor KeyRing {
    /// How long the keys are used as they were read. A new key is published much longer before it signs.
    public static let memory: Duration = .minutes(1)
    /// How long others may keep our key set.
    public static let publication: Duration = .minutes(5)
    /// From the making of a key by hand to its first signature: until every node and every cache knows it.
    public static let shortestLead: Duration = .minutes(10)

    private let keys: SigningKeys
    private let clock: any WallClock
    private var known: [SigningKey] = []
    private var readAt: Timestamp?

    public init(keys: SigningKeys, clock: any WallClock) {
        self.keys = keys
        self.clock = clock
    }

    /// The key that signs now. The first time an algorithm is asked for, its key is made.
    public func current(_ algorithm: PrivateKey.Algorithm) async throws -> SigningKey {
        if let key = Self.current(algorithm, among: try await all(), at: clock.now) { return key }
        try await keys.createMissing([algorithm], at: clock.now)
        readAt = nil
        guard let key = Self.current(algorithm, among: try await all(), at: clock.now) else {
            throw Missing(algorithm: algorithm)
        }
        return key
    }

    /// Every key that verifies something that may still live, or will.
    public func all() async throws -> [SigningKey] {
        let now = clock.now
        if let readAt, (readAt..<readAt + Self.memory).contains(now) { return known }
        known = try await keys.all()
        readAt = now
        return known
    }

    /// As above, as they are this moment: whoever was told that a key was made finds it in our key set at once.
    public func published() async throws -> [SigningKey] {
        let names = try await keys.names()
        if names != known.map({ "\($0.id) \($0.signsFrom.milliseconds)" }) { readAt = nil }
        return try await all()
    }

    /// The key of that name, if it is one of ours.
    public func key(_ id: String) async throws -> SigningKey? { try await all().first { $0.id == id } }

    private static func current(
        _ algorithm: PrivateKey.Algorithm, among keys: [SigningKey], at now: Timestamp
    ) -> SigningKey? {
        let facts = KeyRotation.current(keys.map(\.facts).filter { $0.algorithm == algorithm }, now: now)
        return keys.first { $0.id == facts?.id }
    }

    struct Missing: Error {
        let algorithm: PrivateKey.Algorithm
    }
}
