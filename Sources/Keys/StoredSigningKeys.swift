public import Cryptography
import JSON
public import Storage
import Threads
public import Values

/// The stored signing keys, with sealed private halves. `KeyRotation` decides which of them signs, and when keys are
/// made and retired; `KeyRing` provides the key for signing.
public struct StoredSigningKeys: Sendable {
    let database: any Database
    let seal: Seal

    public init(database: any Database, seal: Seal) {
        self.database = database
        self.seal = seal
    }

    /// Every key, ordered by the time it first signs.
    public func all() async throws -> [SigningKey] {
        try await database.read { [seal] db in
            try db.rows(
                """
                SELECT id, algorithm, sealed_private_key, created_at, signs_from FROM signing_keys
                ORDER BY signs_from, id
                """
            ).map { try SigningKey($0, seal: seal) }
        }
    }

    /// Makes a key for each of `algorithms` that has none yet, and returns the keys that this call made, in that order.
    ///
    /// By default for every algorithm that a client may be set to, before the server listens. A resource server that
    /// caches our key set then has the key before a client is set to it. A key made only for the first client could not
    /// sign until others know it, and that client's sign-ins would have to wait.
    @discardableResult
    public func createMissing(
        _ algorithms: [PrivateKey.Algorithm] = PrivateKey.Algorithm.allCases, at now: Timestamp
    ) async throws -> [SigningKey] {
        let present = Set(try await all().map(\.algorithm))
        // At once: an RSA key takes a tenth of a second.
        let made = try await withThrowingTaskGroup(of: SigningKey?.self) { tasks in
            for algorithm in algorithms where !present.contains(algorithm) {
                tasks.addTask { try await make(algorithm, signsFrom: now, at: now, isFirst: true) }
            }
            return try await tasks.reduce(into: [:]) { made, key in key.map { made[$0.algorithm] = $0 } }
        }
        return algorithms.compactMap { made[$0] }
    }

    /// Makes the next key of an algorithm. Nil when a key that signs at that time or later exists, or when any exists
    /// and this one would be the first: of several nodes that plan the same change, the first wins.
    @discardableResult
    public func make(
        _ algorithm: PrivateKey.Algorithm, signsFrom: Timestamp, at now: Timestamp, isFirst: Bool = false
    ) async throws -> SigningKey? {
        // Outside the transaction, and not on a thread that serves connections: an RSA key takes a tenth of a second.
        let key: PrivateKey
        do {
            key = try await SystemThread.run(named: "spindle-key") { PrivateKey.generate(algorithm) }
        } catch let none as SystemThread.Unavailable {
            throw StorageError.unavailable("\(none)")
        }
        return try await store(key, signsFrom: signsFrom, at: now, isFirst: isFirst)
    }

    /// Stores the next key of its algorithm, on the same condition.
    package func store(
        _ privateKey: PrivateKey, signsFrom: Timestamp, at now: Timestamp, isFirst: Bool = false
    ) async throws -> SigningKey? {
        let key = SigningKey(privateKey, createdAt: now, signsFrom: signsFrom)
        let name = key.algorithm.rawValue
        let sealed = sealed(key)
        let isStored = try await database.write { [seal] db in
            try seal.confirm(in: db)
            let those: SQL = isFirst ? .always : "(signs_from >= \(signsFrom) OR signs_from > \(now))"
            let late = try db.rows("SELECT id FROM signing_keys WHERE algorithm = \(name) AND \(those)")
            guard late.isEmpty else { return try late.contains { try $0.get("id") == key.id } }
            try Self.insert(key, sealed: sealed, in: db)
            return true
        }
        return isStored ? key : nil
    }

    /// The keys' ids and times, without opening the keys: cheap enough for every request for the key set.
    func names() async throws -> [String] {
        try await database.read { db in
            try db.rows("SELECT id, signs_from FROM signing_keys ORDER BY signs_from, id").map { row in
                "\(try row.get("id", as: String.self)) \(try row.get("signs_from", as: Int64.self))"
            }
        }
    }

    /// Carries out and returns the changes that `KeyRotation` plans; makes new keys only for `algorithms`.
    @discardableResult
    public func rotate(
        _ policy: KeyRotation.Policy, of algorithms: Set<PrivateKey.Algorithm> = Set(PrivateKey.Algorithm.allCases),
        at now: Timestamp
    ) async throws -> [KeyRotation.Change] {
        let changes = KeyRotation.plan(try await all().map(\.facts), now: now, policy: policy).filter { change in
            if case .make(let algorithm, _) = change { algorithms.contains(algorithm) } else { true }
        }
        for change in changes {
            switch change {
            case .make(let algorithm, let signsFrom): try await make(algorithm, signsFrom: signsFrom, at: now)
            case .forget(let id): try await database.write { db in try Self.forget(id, in: db) }
            case .advance(let id, let signsFrom):
                try await database.write { db in try Self.advance(id, to: signsFrom, in: db) }
            }
        }
        return changes
    }
}

extension SigningKey {
    fileprivate init(_ row: Row, seal: Seal) throws {
        let id = try row.get("id", as: String.self)
        let text = try seal.open(row.get("sealed_private_key"), .signingKey, row: id)
        guard let algorithm = PrivateKey.Algorithm(rawValue: try row.get("algorithm")),
            let bytes = Base64URL.decode(text), let key = try? PrivateKey(pkcs8: bytes, algorithm: algorithm)
        else { throw StorageError.unreadable("signing_keys/\(id) is no signing key") }
        self.init(key, createdAt: try row.get("created_at"), signsFrom: try row.get("signs_from"))
        guard self.id == id else { throw StorageError.unreadable("signing_keys/\(id) holds another key") }
    }
}
