import Audit
public import Cryptography
public import Directory
import JOSE
public import JSON
public import Keys
import Storage
public import Values

/// The signing keys, as the platform's administrators see and change them.
public struct KeyAdministration: Sendable {
    private let keys: StoredSigningKeys
    private let clients: Clients
    private let clock: any WallClock
    private let random: any RandomSource

    public init(keys: StoredSigningKeys, clients: Clients, clock: any WallClock, random: any RandomSource) {
        self.random = random
        self.keys = keys
        self.clients = clients
        self.clock = clock
    }

    /// The state of a key.
    public enum State: String, Sendable, CaseIterable {
        /// Published, and to sign later.
        case next
        /// Signs now.
        case current
        /// Published for what it signed.
        case former
    }

    /// Every key, in the order in which they begin to sign.
    public func list() async throws -> [(key: SigningKey, state: State)] {
        let (all, now) = (try await keys.all(), clock.now)
        return all.map { key in
            let peers = all.filter { $0.algorithm == key.algorithm && $0.signsFrom <= now }
            let current = peers.max { ($0.signsFrom, $0.id) < ($1.signsFrom, $1.id) }
            return (key, key.signsFrom > now ? .next : key.id == current?.id ? .current : .former)
        }
    }

    /// Makes or hastens the next key of each algorithm that clients use. Returns those keys.
    public func rotate(by administrator: Administrator) async throws -> [SigningKey] {
        let now = clock.now
        let present = Set(try await keys.all().map(\.algorithm))
        let algorithms = present.intersection(try await clients.algorithmsInUse())
        var made: [SigningKey] = []
        for algorithm in algorithms.sorted(by: { $0.rawValue < $1.rawValue }) {
            let key = try await keys.hasten(
                algorithm, signsFrom: now + KeyRing.shortestLead, at: now,
                doing: administrator.writing(
                    "key.rotated", on: Party(.key, algorithm.rawValue), at: now, random))
            if let key { made.append(key) }
        }
        return made
    }

    /// Takes a key out of service at once. Returns the key of its algorithm that signs now; nil if there is none `id`.
    public func withdraw(_ id: String, by administrator: Administrator) async throws -> SigningKey? {
        let now = clock.now
        return try await keys.withdraw(
            id, at: now, doing: administrator.writing("key.withdrawn", on: Party(.key, id), at: now, random))
    }
}

extension SigningKey {
    /// The key as administration shows it, without its private half.
    public func json(_ state: KeyAdministration.State) -> JSON {
        .members([
            "id": .string(id), "algorithm": .string(algorithm.rawValue), "state": .string(state.rawValue),
            "created_at": .integer(createdAt.seconds), "signs_from": .integer(signsFrom.seconds),
            "public_key": publicKey.json,
        ])
    }
}
