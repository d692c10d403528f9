public import Cryptography
public import Values

/// When signing keys are made and retired, and which of an algorithm's keys signs. Decided only here, from the keys and
/// the time. The algorithm is the client's choice (`IDTokens`, `JWTAccessTokens`).
public enum KeyRotation {
    public struct Policy: Sendable {
        /// How long a key signs; nil means forever.
        public let period: Duration?
        /// How long the next key is published before it signs: longer than any cache keeps the key set.
        public let lead: Duration
        /// How long an old key is published after its last signature: longer than anything it signed lives.
        public let tail: Duration

        public init(period: Duration?, lead: Duration = .days(1), tail: Duration = .days(31)) {
            self.period = period
            self.lead = lead
            self.tail = tail
        }
    }

    /// The facts about a key that matter for rotation.
    public struct Key: Sendable {
        public let id: String
        public let algorithm: PrivateKey.Algorithm
        public let signsFrom: Timestamp

        public init(id: String, algorithm: PrivateKey.Algorithm, signsFrom: Timestamp) {
            self.id = id
            self.algorithm = algorithm
            self.signsFrom = signsFrom
        }
    }

    public enum Change: Sendable, Equatable {
        case make(PrivateKey.Algorithm, signsFrom: Timestamp)
        case forget(String)
        /// A key that was to sign later signs from this time on.
        case advance(String, signsFrom: Timestamp)
    }

    /// The changes that `keys` need now.
    public static func plan(_ keys: [Key], now: Timestamp, policy: Policy) -> [Change] {
        Dictionary(grouping: keys, by: \.algorithm).sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { _, keys in
            plan(ofOneAlgorithm: keys.sorted { ($0.signsFrom, $0.id) < ($1.signsFrom, $1.id) }, now, policy)
        }
    }

    private static func plan(ofOneAlgorithm keys: [Key], _ now: Timestamp, _ policy: Policy) -> [Change] {
        // A key's successor takes over from it.
        var changes = zip(keys, keys.dropFirst()).compactMap { key, successor -> Change? in
            now < successor.signsFrom + policy.tail ? nil : .forget(key.id)
        }
        if let last = keys.last, let period = policy.period, last.signsFrom <= now {
            let end = last.signsFrom + period
            if now >= end - policy.lead {
                changes.append(.make(last.algorithm, signsFrom: max(end, now + policy.lead)))
            }
        }
        return changes
    }

    /// The changes when the key `id` is no longer trusted. If it is the signing key, the next one, which others already
    /// know, takes over at once; if there is none, one is made. No older key ever signs again.
    static func withdrawal(of id: String, among keys: [Key], now: Timestamp) -> [Change] {
        guard let key = keys.first(where: { $0.id == id }) else { return [] }
        let peers = keys.filter { $0.algorithm == key.algorithm }
        guard current(peers, now: now)?.id == id else { return [.forget(id)] }
        let next = peers.filter { $0.signsFrom > now }.min { ($0.signsFrom, $0.id) < ($1.signsFrom, $1.id) }
        return [.forget(id), next.map { .advance($0.id, signsFrom: now) } ?? .make(key.algorithm, signsFrom: now)]
    }

    /// The key that signs now.
    public static func current(_ keys: [Key], now: Timestamp) -> Key? {
        keys.filter { $0.signsFrom <= now }.max { ($0.signsFrom, $0.id) < ($1.signsFrom, $1.id) }
    }
}
