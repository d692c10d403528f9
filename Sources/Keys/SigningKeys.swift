import Cryptography
import JOSE
public import Storage
public import Values

/// Where the signing keys are kept, their private halves sealed.
public struct SigningKeys: Sendable {
    private let database: any Database
    private let seal: Seal

    public init(database: any Database, seal: Seal) {
        self.database = database
        self.seal = seal
    }

    /// Every key, oldest first.
    public func all() async throws -> [SigningKey] {
        try await database.read { [seal] db in
            try db.rows(
                "SELECT id, algorithm, sealed_private_key, created_at FROM signing_keys ORDER BY created_at, id"
            ).map { try SigningKey($0, seal: seal) }
        }
    }

    /// Makes a key for each algorithm that has none yet, and returns those that this call made.
    @discardableResult
    public func createMissing(at now: Timestamp) async throws -> [SigningKey] {
        let present = Set(try await all().map(\.algorithm))
        var made: [SigningKey] = []
        for algorithm in PrivateKey.Algorithm.allCases where !present.contains(algorithm) {
            // Made outside the transaction: an RSA key takes a while.
            let key = SigningKey(PrivateKey.generate(algorithm), createdAt: now)
            if try await store(key) { made.append(key) }
        }
        return made
    }

    /// Stores `key` unless its algorithm has one by now: of nodes that start at once, the first wins.
    private func store(_ key: SigningKey) async throws -> Bool {
        let algorithm = key.algorithm.rawValue
        let sealed = seal.seal(Base64URL.encode(key.privateKey.pkcs8), .signingKey, row: key.id)
        return try await database.write { [seal] db in
            try seal.confirm(in: db)
            let present = try db.rows("SELECT id FROM signing_keys WHERE algorithm = \(algorithm)")
            guard present.isEmpty else { return try present.contains { try $0.get("id") == key.id } }
            try db.execute(
                """
                INSERT INTO signing_keys (id, algorithm, public_key, sealed_private_key, created_at)
                VALUES (\(key.id), \(algorithm), \(key.publicKey.json.text), \(sealed), \(key.createdAt))
                """)
            return true
        }
    }
}

extension SigningKey {
    fileprivate init(_ row: Row, seal: Seal) throws {
        let id = try row.get("id", as: String.self)
        let text = try seal.open(row.get("sealed_private_key"), .signingKey, row: id)
        guard let algorithm = PrivateKey.Algorithm(rawValue: try row.get("algorithm")),
            let bytes = Base64URL.decode(text), let key = try? PrivateKey(pkcs8: bytes, algorithm: algorithm)
        else { throw StorageError.unreadable("signing_keys/\(id) is no signing key") }
        self.init(key, createdAt: try row.get("created_at"))
        guard self.id == id else { throw StorageError.unreadable("signing_keys/\(id) holds another key") }
    }
}
