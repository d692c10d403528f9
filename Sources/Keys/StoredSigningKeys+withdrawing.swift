public import Cryptography
import JOSE
import JSON
import Storage
public import Values

extension StoredSigningKeys {
    /// Lets the next key of `algorithm` sign from `signsFrom` on, or makes one if there is none. Nil when the next key
    /// already signs by then.
    public func hasten(
        _ algorithm: PrivateKey.Algorithm, signsFrom: Timestamp, at now: Timestamp
    ) async throws -> SigningKey? {
        let name = algorithm.rawValue
        let planned = try await all().filter { $0.algorithm == algorithm && $0.signsFrom > now }
        guard let next = planned.first else { return try await make(algorithm, signsFrom: signsFrom, at: now) }
        guard next.signsFrom > signsFrom else { return nil }
        try await database.write { db in
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
    public func withdraw(_ id: String, at now: Timestamp) async throws -> SigningKey? {
        guard let key = try await all().first(where: { $0.id == id }) else { return nil }
        // Made outside the transaction, because an RSA key takes a while.
        let spare = SigningKey(PrivateKey.generate(key.algorithm), createdAt: now, signsFrom: now)
        let sealed = sealed(spare)
        try await database.write { [seal] db in
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
