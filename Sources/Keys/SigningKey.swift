public import Cryptography
public import JOSE
public import JSON
import Storage
public import Values

/// A key that we sign tokens with.
public struct SigningKey: Sendable {
    public let privateKey: PrivateKey
    public let publicKey: JSONWebKey
    public let createdAt: Timestamp
    /// The time of its first signature. It is published from its creation on.
    public let signsFrom: Timestamp

    /// The `kid` in our tokens and in the JWK set.
    public var id: String { publicKey.keyID }
    var facts: KeyRotation.Key { KeyRotation.Key(id: id, algorithm: algorithm, signsFrom: signsFrom) }
    public var algorithm: PrivateKey.Algorithm { privateKey.algorithm }

    init(_ privateKey: PrivateKey, createdAt: Timestamp, signsFrom: Timestamp) {
        self.privateKey = privateKey
        self.publicKey = JSONWebKey(privateKey)
        self.createdAt = createdAt
        self.signsFrom = signsFrom
    }

    /// A signed JWT of `claims`, with `type` in its header (RFC 8725 §3.11).
    public func sign(_ claims: JSON, type: String) -> String {
        CompactJWS.sign(claims, type: type, key: privateKey, keyID: id)
    }
}

/// The signing keys in memory: read rarely, used for every token. `KeyRotation` decides which of them signs.
public actor KeyRing {
    /// How long keys are used before they are read again. A new key is published much longer before it signs.
    public static let memory: Duration = .minutes(1)
    /// How long other servers may cache our key set.
    public static let publication: Duration = .minutes(5)
    /// The time from making a key by hand to its first signature, until every node and cache knows it.
    public static let shortestLead: Duration = .minutes(10)

    private let keys: StoredSigningKeys
    private let clock: any WallClock
    private var known: [SigningKey] = []
    private var readAt: Timestamp?

    public init(keys: StoredSigningKeys, clock: any WallClock) {
        self.keys = keys
        self.clock = clock
    }

    /// The key that signs now. Each algorithm has had one since before the server listened
    /// (`StoredSigningKeys.createMissing`), because a key made here would sign before others can know it.
    public func current(_ algorithm: PrivateKey.Algorithm) async throws -> SigningKey {
        guard let key = Self.current(algorithm, among: try await all(), at: clock.now) else {
            throw StorageError.unavailable("there is no \(algorithm.rawValue) signing key: restart the server")
        }
        return key
    }

    /// All stored keys: those that verify tokens that may still be valid, and those that will sign later.
    public func all() async throws -> [SigningKey] {
        let now = clock.now
        if let readAt, (readAt..<readAt + Self.memory).contains(now) { return known }
        known = try await keys.all()
        readAt = now
        return known
    }

    /// Like `all()`, but up to date: a key that was just made is in our key set at once.
    public func published() async throws -> [SigningKey] {
        let names = try await keys.names()
        if names != known.map({ "\($0.id) \($0.signsFrom.milliseconds)" }) { readAt = nil }
        return try await all()
    }

    /// Our key with that id, if there is one.
    public func key(_ id: String) async throws -> SigningKey? { try await all().first { $0.id == id } }

    private static func current(
        _ algorithm: PrivateKey.Algorithm, among keys: [SigningKey], at now: Timestamp
    ) -> SigningKey? {
        let facts = keys.map(\.facts).filter { $0.algorithm == algorithm }
        // A node's clock may be behind that of the node that made the first key.
        let current = KeyRotation.current(facts, now: now) ?? facts.min { $0.signsFrom < $1.signsFrom }
        return keys.first { $0.id == current?.id }
    }
}
