import Audit
import Cryptography
import Directory
import JSON
import Keys
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Resealing") struct ResealingTests {
    private let random = SystemRandom()

    /// A database with one of each sealed value under `key`.
    private func filled(_ backend: Backend, key: MasterKey) async throws -> any Database {
        let database = try await backend.open()
        _ = try await MasterKeySource.given(key).masterKey(for: database, random: random)
        let seal = Seal(masterKey: key, random: random)
        try await StoredSigningKeys(database: database, seal: seal).createMissing(at: Timestamp(milliseconds: 1 * 1000))
        try await database.write { db in
            try db.execute(
                """
                INSERT INTO merchants (id, number, name, logout_reaches_backends, created_at, updated_at)
                VALUES ('m', 1, 'M', 0, 0, 0)
                """)
            try db.execute(
                """
                INSERT INTO clients (id, merchant_id, name, redirect_uris, grant_types, scope, authentication_method,
                    custody, first_party, spid_compatible, requires_pkce, rotates_refresh_tokens, refresh_repeat_window,
                    access_token_lifetime, refresh_token_lifetime, sealed_sign_secret, created_at, updated_at)
                VALUES ('c', 'm', 'C', '[]', '[]', '', 'none', 'none', 1, 0, 1, 0, 0, 1, 1,
                    \(seal.seal("sign secret", .signSecret, row: "c")), 0, 0)
                """)
            for (id, sealed) in [("i", seal.seal("shared secret", .issuerSecret, row: "i")), ("j", nil)] {
                try db.execute("INSERT INTO issuers (id, merchant_id) VALUES (\(id), 'm')")
                try db.execute(
                    """
                    INSERT INTO issuer_settings (issuer_id, merchant_id, issuer, sealed_secret, audiences, algorithms,
                        create_users, created_at, updated_at)
                    VALUES (\(id), 'm', \(id), \(sealed), '[]', '[]', 0, 0, 0)
                    """)
            }
            try db.execute(
                """
                UPDATE issuer_settings SET sealed_app_secret = \(seal.seal("app secret", .appSecret, row: "i")),
                    sealed_client_secret = \(seal.seal("client secret", .upstreamSecret, row: "i"))
                WHERE issuer_id = 'i'
                """)
            try db.execute(
                """
                INSERT INTO token_families (id, path, client_id, scope, signed_in_at, created_at, expires_at)
                VALUES ('p', 'p', 'c', '', 0, 0, 1)
                """)
            try db.execute(
                """
                INSERT INTO refresh_tokens (fingerprint, family_id, scope, issued_at, expires_at, successor,
                    sealed_successor)
                VALUES ('f', 'p', '', 0, 1, 'g', \(seal.seal("next", .successor, of: "old", row: "f")))
                """)
            try db.execute(
                """
                INSERT INTO webhooks (id, name, merchant_id, sealed_secrets, document, created_at, updated_at)
                VALUES ('w', 'w', 'm', \(seal.seal("secrets", .webhookSecrets, row: "w")), '{}', 0, 0)
                """)
            try db.execute(
                """
                INSERT INTO deliveries (id, kind, sealed_content, attempts, due_at, created_at, expires_at)
                VALUES ('d', 'mail', \(seal.seal("a letter", .delivery, row: "d")), 0, 0, 0, 1)
                """)
            try db.execute(
                """
                INSERT INTO idempotent_answers (name, request, attempt, sealed_answer, expires_at)
                VALUES ('a', 'r', 't', \(seal.seal("an answer", .idempotentAnswer, row: "a")), 1)
                """)
        }
        return database
    }

    /// What the database keeps in its sealed columns, in one string.
    private func sealed(_ database: any Database) async throws -> [String?] {
        try await database.read { db in
            let queries: [SQL] = [
                "SELECT sealed_private_key AS sealed FROM signing_keys ORDER BY id",
                "SELECT sealed_sign_secret AS sealed FROM clients",
                "SELECT sealed_secret AS sealed FROM issuer_settings ORDER BY issuer_id",
                "SELECT sealed_app_secret AS sealed FROM issuer_settings ORDER BY issuer_id",
                "SELECT sealed_client_secret AS sealed FROM issuer_settings ORDER BY issuer_id",
                "SELECT sealed_successor AS sealed FROM refresh_tokens",
                "SELECT sealed_content AS sealed FROM deliveries",
                "SELECT sealed_secrets AS sealed FROM webhooks",
                "SELECT sealed_answer AS sealed FROM idempotent_answers", "SELECT value AS sealed FROM facts",
            ]
            return try queries.flatMap { try db.rows($0).map { try $0.get("sealed", as: String?.self) } }
        }
    }

    @Test(
        "After resealing, sealed values open under the new master key and none under the old",
        arguments: Backend.available)
    func reseals(_ backend: Backend) async throws {
        let (old, new) = (MasterKey.random(from: random), MasterKey.random(from: random))
        let database = try await filled(backend, key: old)
        let before = try await StoredSigningKeys(database: database, seal: Seal(masterKey: old, random: random)).all()

        #expect(try await Resealing(from: old, to: new, random: random).run(on: database) == before.count + 7)

        #expect(try await MasterKeyCheck(new).verify(database) == .right)
        #expect(try await MasterKeyCheck(old).verify(database) == .wrong)
        let seal = Seal(masterKey: new, random: random)
        #expect(try await StoredSigningKeys(database: database, seal: seal).all().map(\.id) == before.map(\.id))
        let now = try await sealed(database)
        let others = Array(now.dropFirst(before.count))
        #expect(try seal.open(#require(others[0]), .signSecret, row: "c") == "sign secret")
        #expect(try seal.open(#require(others[1]), .issuerSecret, row: "i") == "shared secret")
        #expect(others[2] == nil)
        #expect(try seal.open(#require(others[3]), .appSecret, row: "i") == "app secret")
        #expect(others[4] == nil)
        #expect(try seal.open(#require(others[5]), .upstreamSecret, row: "i") == "client secret")
        #expect(others[6] == nil)
        #expect(others[7] == nil, "an unconfirmed successor cannot be carried over")
        #expect(try seal.open(#require(others[8]), .delivery, row: "d") == "a letter")
        #expect(try seal.open(#require(others[9]), .webhookSecrets, row: "w") == "secrets")
        #expect(try seal.open(#require(others[10]), .idempotentAnswer, row: "a") == "an answer")

        // Done twice, as after a COMMIT of unknown outcome, it changes nothing more.
        #expect(try await Resealing(from: old, to: new, random: random).run(on: database) == 0)
        #expect(try await sealed(database) == now)
        await database.close()
    }

    @Test(
        "Resealing with the wrong old master key, or with one damaged value, changes nothing",
        arguments: Backend.available)
    func allOrNothing(_ backend: Backend) async throws {
        let (old, new) = (MasterKey.random(from: random), MasterKey.random(from: random))
        let database = try await filled(backend, key: old)
        let before = try await sealed(database)
        await #expect(throws: MasterKeyError.wrong) {
            try await Resealing(from: .random(from: random), to: new, random: random).run(on: database)
        }
        #expect(try await sealed(database) == before)

        _ = try await database.write { db in
            try db.execute("UPDATE issuer_settings SET sealed_secret = 'damaged' WHERE issuer_id = 'i'")
        }
        let damaged = try await sealed(database)
        await #expect(throws: StorageError.self) {
            try await Resealing(from: old, to: new, random: random).run(on: database)
        }
        #expect(try await sealed(database) == damaged)
        await database.close()
    }

    @Test(
        "After resealing, a node with the old master key can store no value that the new key does not open",
        arguments: Backend.available)
    func survivor(_ backend: Backend) async throws {
        let (old, new) = (MasterKey.random(from: random), MasterKey.random(from: random))
        let database = try await filled(backend, key: old)
        let before = clients(database, old)
        _ = try await before.register(try ClientMetadata(["client_name": "Before"]), merchant: nil, by: commandLine)
        try await Resealing(from: old, to: new, random: random).run(on: database)
        await #expect(throws: StorageError.self) {
            let metadata = try ClientMetadata(["client_name": "Too late"])
            _ = try await before.register(metadata, merchant: nil, by: commandLine)
        }
        let after = try ClientMetadata(["client_name": "After"])
        _ = try await clients(database, new).register(after, merchant: nil, by: commandLine)
        #expect(try await names(database) == ["After", "Before", "C"])
        try await Resealing(from: new, to: old, random: random).run(on: database)
        await database.close()
    }

    private struct Refused: Error {}

    private struct Refusing: ClientAuthority {
        let isClientItself = false
        let lendsResources = false
        let reservedNames: [String]? = nil
        let actor = Actor(.anonymous)
        func confirm(in db: any Transaction) {}
        func permit(making client: Client, in db: any Transaction) throws { throw Refused() }
    }

    @Test("A client whose registration is refused within the transaction is not stored", arguments: Backend.available)
    func recorded(_ backend: Backend) async throws {
        let key = MasterKey.random(from: random)
        let database = try await filled(backend, key: key)
        let metadata = try ClientMetadata(["client_name": "D"])
        await #expect(throws: Refused.self) {
            _ = try await clients(database, key).register(metadata, merchant: nil, by: Refusing())
        }
        #expect(try await names(database) == ["C"])
        await database.close()
    }

    private func clients(_ database: any Database, _ key: MasterKey) -> Clients {
        let clock = ManualClock()
        return Clients(
            database: database, clock: clock, random: random, seal: Seal(masterKey: key, random: random),
            known: KnownClients(clock: clock), erasure: BulkErasure(database: database),
            sessions: Sessions(database: database, clock: clock, events: .unheard))
    }

    private func names(_ database: any Database) async throws -> [String] {
        try await database.read { db in
            try db.rows("SELECT name FROM clients ORDER BY name").map { try $0.get("name") }
        }
    }
}
