public import Cryptography
import JOSE
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
        _ algorithm: PrivateKey.Algorithm, signsFrom: Timestamp, at now: Timestamp, isFirst: Bool = false,
        doing work: @escaping @Sendable (any Transaction) throws -> Void = { _ in }
    ) async throws -> SigningKey? {
        // Outside the transaction, and not on a thread that serves connections: an RSA key takes a tenth of a second.
        let key: PrivateKey
        do {
            key = try await SystemThread.run(named: "spindle-key") { PrivateKey.generate(algorithm) }
        } catch let none as SystemThread.Unavailable {
            throw StorageError.unavailable("\(none)")
        }
        return try await store(key, signsFrom: signsFrom, at: now, isFirst: isFirst, doing: work)
    }

    /// Stores the next key of its algorithm, on the same condition.
    package func store(
        _ privateKey: PrivateKey, signsFrom: Timestamp, at now: Timestamp, isFirst: Bool = false,
        doing work: @escaping @Sendable (any Transaction) throws -> Void = { _ in }
    ) async throws -> SigningKey? {
        let key = SigningKey(privateKey, createdAt: now, signsFrom: signsFrom)
        let name = key.algorithm.rawValue
        let sealed = sealed(key)
        let isStored = try await database.write { [seal] db in
            try work(db)
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

extension StoredSigningKeys {
    /// Lets the next key of `algorithm` sign from `signsFrom` on, or makes one if there is none. Nil when the next key
    /// already signs by then. `work` is done in the transaction of the change, and may refuse it.
    public func hasten(
        _ algorithm: PrivateKey.Algorithm, signsFrom: Timestamp, at now: Timestamp,
        doing work: @escaping @Sendable (any Transaction) throws -> Void = { _ in }
    ) async throws -> SigningKey? {
        let name = algorithm.rawValue
        let planned = try await all().filter { $0.algorithm == algorithm && $0.signsFrom > now }
        guard let next = planned.first else {
            return try await make(algorithm, signsFrom: signsFrom, at: now, doing: work)
        }
        guard next.signsFrom > signsFrom else { return nil }
        try await database.write { db in
            try work(db)
            try db.execute(
                """
                UPDATE signing_keys SET signs_from = \(signsFrom)
                WHERE id = \(next.id) AND algorithm = \(name) AND signs_from > \(signsFrom)
                """)
        }
        return try await all().first { $0.id == next.id }
    }

    /// Takes a key out of service at once: it signs nothing more and is no longer published, so everything it signed
    /// becomes invalid. Returns the key of its algorithm that signs from now on; nil when there is no key `id`.
    ///
    /// A running node uses what it read for `KeyRing.memory`, and others use our key set for `KeyRing.publication`.
    /// `work` is done in the transaction of the change, and may refuse it.
    public func withdraw(
        _ id: String, at now: Timestamp, doing work: @escaping @Sendable (any Transaction) throws -> Void = { _ in }
    ) async throws -> SigningKey? {
        guard let key = try await all().first(where: { $0.id == id }) else { return nil }
        // Made outside the transaction, because an RSA key takes a while.
        let spare = SigningKey(PrivateKey.generate(key.algorithm), createdAt: now, signsFrom: now)
        let sealed = sealed(spare)
        try await database.write { [seal] db in
            try work(db)
            try seal.confirm(in: db)
            let facts = try db.rows(
                "SELECT id, signs_from FROM signing_keys WHERE algorithm = \(key.algorithm.rawValue)"
            ).map { row in
                KeyRotation.Key(
                    id: try row.get("id"), algorithm: key.algorithm, signsFrom: try row.get("signs_from"))
            }
            for change in KeyRotation.withdrawal(of: id, among: facts, now: now) {
                switch change {
                case .forget(let id): try Self.forget(id, in: db)
                case .advance(let id, let signsFrom): try Self.advance(id, to: signsFrom, in: db)
                case .make: try Self.insert(spare, sealed: sealed, in: db)
                }
            }
        }
        let keys = try await all().filter { $0.algorithm == key.algorithm }
        let current = KeyRotation.current(keys.map(\.facts), now: now)
        return keys.first { $0.id == current?.id }
    }
}

// MARK: - The rows

extension StoredSigningKeys {
    func sealed(_ key: SigningKey) -> String {
        seal.seal(Base64URL.encode(key.privateKey.pkcs8), .signingKey, row: key.id)
    }

    static func insert(_ key: SigningKey, sealed: String, in db: any Transaction) throws {
        try db.execute(
            """
            INSERT INTO signing_keys (id, algorithm, public_key, sealed_private_key, created_at, signs_from)
            VALUES (\(key.id), \(key.algorithm.rawValue), \(key.publicKey.json.text), \(sealed), \(key.createdAt),
                \(key.signsFrom))
            """)
    }

    static func forget(_ id: String, in db: any Transaction) throws {
        try db.execute("DELETE FROM signing_keys WHERE id = \(id)")
    }

    static func advance(_ id: String, to signsFrom: Timestamp, in db: any Transaction) throws {
        try db.execute("UPDATE signing_keys SET signs_from = \(signsFrom) WHERE id = \(id)")
    }
}

extension StoredSigningKeys {
    static let table = StoredTable("signing_keys", sealed: [(SealedPlace.signingKey.rawValue, "sealed_private_key")])
}

extension StoredTable {
    /// The tables of this module.
    public static let ofKeys = [StoredSigningKeys.table]
}
