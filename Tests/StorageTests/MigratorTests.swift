import Migrations
import Storage
import TestSupport
import Testing

/// The schema's steps: forward only, each once, never altered.
@Suite struct MigratorTests {
    private static let first = Migration(
        version: 1, name: "first",
        script: """
            -- A comment; with a semicolon;
            CREATE TABLE notes (
                id BIGINT PRIMARY KEY, -- why
                text TEXT NOT NULL
            );
            CREATE INDEX notes_by_text ON notes (text);
            """)
    private static let second = Migration(
        version: 2, name: "second", script: "ALTER TABLE notes ADD COLUMN seen_at BIGINT;\n")
    private static let broken = Migration(
        version: 3, name: "broken", script: "CREATE TABLE more (id BIGINT PRIMARY KEY);\nCREATE NONSENSE;\n")

    @Test("an empty database gets the whole schema, once", arguments: Backend.available)
    func fromEmpty(_ backend: Backend) async throws {
        let database = try await backend.openEmpty()
        let migrator = Migrator(database: database, migrations: Migration.all)
        #expect(try await migrator.state() == .empty)
        #expect(try await migrator.migrate(at: 1) == Migration.all.map(\.version))
        #expect(try await migrator.state() == .current)
        #expect(try await migrator.migrate(at: 2) == [])
        let row = try await database.read { db in
            try db.rows("SELECT version, name, checksum, applied_at FROM schema_steps ORDER BY version").first
        }
        #expect(try row?.get("name", as: String.self) == Migration.all.first?.name)
        #expect(try row?.get("applied_at", as: Int.self) == 1)
    }

    @Test("a database that is behind gets the missing steps", arguments: Backend.available)
    func behind(_ backend: Backend) async throws {
        let database = try await backend.openEmpty()
        try await Migrator(database: database, migrations: [Self.first]).migrate(at: 1)
        try await database.run("INSERT INTO notes (id, text) VALUES (\(1), \("kept"))")
        let migrator = Migrator(database: database, migrations: [Self.first, Self.second])
        #expect(try await migrator.state() == .behind([2]))
        #expect(try await migrator.migrate(at: 2) == [2])
        let row = try await database.read { try $0.rows("SELECT text, seen_at FROM notes").first }
        #expect(try row?.get("text", as: String.self) == "kept")
        #expect(try row?.get("seen_at", as: Int?.self) == nil)
    }

    @Test("an altered step and a newer schema are refused", arguments: Backend.available)
    func refused(_ backend: Backend) async throws {
        let database = try await backend.openEmpty()
        try await Migrator(database: database, migrations: [Self.first, Self.second]).migrate(at: 1)
        let altered = Migration(version: 1, name: "first", script: Self.first.script + "\n-- altered")
        let ours = Migrator(database: database, migrations: [altered, Self.second])
        #expect(try await ours.state() == .altered(1))
        await #expect(throws: StorageError.self) { try await ours.migrate(at: 2) }
        let old = Migrator(database: database, migrations: [Self.first])
        #expect(try await old.state() == .newer(2))
        await #expect(throws: StorageError.self) { try await old.migrate(at: 2) }
    }

    @Test("a step that fails leaves nothing behind", arguments: Backend.available)
    func failing(_ backend: Backend) async throws {
        let database = try await backend.openEmpty()
        let migrator = Migrator(database: database, migrations: [Self.first, Self.second, Self.broken])
        await #expect(throws: StorageError.self) { try await migrator.migrate(at: 1) }
        #expect(try await migrator.state() == .behind([3]))
        await #expect(throws: StorageError.self) { try await database.read { try $0.rows("SELECT id FROM more") } }
    }

    @Test("an upgrade introduces users to each merchant whose own client they have used", arguments: Backend.available)
    func introductions(_ backend: Backend) async throws {
        let database = try await backend.openEmpty()
        try await Migrator(database: database, migrations: Migration.all.filter { $0.version < 5 }).migrate(at: 1)
        try await database.write { db in
            for merchant in ["loom", "rival"] {
                try db.execute(
                    """
                    INSERT INTO merchants (id, name, logout_reaches_backends, created_at, updated_at)
                    VALUES (\(merchant), \(merchant), 0, 0, 0)
                    """)
            }
            for user in 1...2 {
                try db.execute(
                    """
                    INSERT INTO accounts (id, email_verified, profile, created_at, updated_at)
                    VALUES (\(user), 0, '{}', 0, 0)
                    """)
            }
            let clients = [("phone", "loom", true), ("tablet", "loom", true), ("stranger", "rival", false)]
            for (client, merchant, isOwn) in clients {
                try db.execute(
                    """
                    INSERT INTO clients (id, merchant_id, name, redirect_uris, grant_types, scope,
                        authentication_method, first_party, spid_compatible, rotates_refresh_tokens,
                        access_token_lifetime, refresh_token_lifetime, sealed_sign_secret, created_at, updated_at)
                    VALUES (\(client), \(merchant), '', '', '', '', 'none', \(isOwn), 0, 0, 0, 0, '', 0, 0)
                    """)
                try db.execute(
                    "INSERT INTO connections (account_id, client_id, created_at) VALUES (1, \(client), 7)")
            }
        }
        try await Migrator(database: database, migrations: Migration.all).migrate(at: 2)
        let met = try await database.read { db in
            try db.rows("SELECT user_id, merchant_id, created_at FROM introductions").map { row in
                "\(try row.get("user_id", as: Int.self)) \(try row.get("merchant_id", as: String.self))"
            }
        }
        // A third party's question was not the merchant's own.
        #expect(met == ["1 loom"])
    }

    @Test("servers that start together migrate once", arguments: Backend.available)
    func together(_ backend: Backend) async throws {
        let address = try await backend.freshAddress()
        let applied = try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    let database = try await Backend.open(address)
                    return try await Migrator(database: database, migrations: Migration.all).migrate(at: 1)
                }
            }
            return try await group.reduce([], +)
        }
        // Which server made which step is chance.
        #expect(applied.sorted() == Migration.all.map(\.version))
    }

    @Test("an upgrade that moves rows to their primary keys loses none", arguments: Backend.available)
    func rowsByKey(_ backend: Backend) async throws {
        let database = try await backend.openEmpty()
        try await Migrator(database: database, migrations: Migration.all.filter { $0.version < 27 }).migrate(at: 1)
        try await database.write { db in
            for statement in Self.tokens { try db.execute(SQL(script: statement)) }
        }
        let before = try await kept(database)
        try await Migrator(database: database, migrations: Migration.all).migrate(at: 2)
        #expect(before.allSatisfy { $0.count == 1 })
        #expect(try await kept(database) == before)
        // A parent that goes takes its tokens along, as before.
        try await database.run("DELETE FROM token_families WHERE id = 'family'")
        #expect(try await database.rows("SELECT fingerprint FROM refresh_tokens").isEmpty)
        await database.close()
    }

    private static let tokens = [
        """
        INSERT INTO clients (id, name, redirect_uris, grant_types, scope, authentication_method, first_party,
            spid_compatible, rotates_refresh_tokens, access_token_lifetime, refresh_token_lifetime, sealed_sign_secret,
            created_at, updated_at)
        VALUES ('phone', '', '', '', '', 'none', 1, 0, 0, 0, 0, '', 0, 0)
        """,
        """
        INSERT INTO token_families (id, client_id, scope, signed_in_at, created_at, expires_at)
        VALUES ('family', 'phone', 'openid', 1, 2, 3)
        """,
        """
        INSERT INTO access_tokens (fingerprint, family_id, client_id, user_id, scope, rotation, issued_at, expires_at,
            resource)
        VALUES ('a', 'family', 'phone', 5, 'openid', 'r', 6, 7, 'https://api.example')
        """,
        """
        INSERT INTO refresh_tokens (fingerprint, family_id, scope, predecessor, issued_at, expires_at, successor,
            sealed_successor, rotated_at, rotated_by, latest_access_token, confirmed_at, repeat_run, repeats)
        VALUES ('r', 'family', 'openid', 'p', 1, 2, 's', 'sealed', 3, 'attempt', 'a', 4, 5, 6)
        """,
        """
        INSERT INTO exchange_codes (fingerprint, type, source_family_id, client_id, user_id, scope, redirect_uri,
            signed_in_at, expires_at, spent_at, spent_by, family_id, state)
        VALUES ('c', 'code', 'family', 'phone', 5, 'openid', 'https://r.example', 1, 2, 3, 'attempt', 'family', 'x')
        """,
    ]
    /// Every value of the tables that are moved, found by their indexes.
    private func kept(_ database: any Database) async throws -> [[String]] {
        let tables = [
            "access_tokens": "fingerprint family_id client_id user_id scope rotation issued_at expires_at resource",
            "refresh_tokens": """
            fingerprint family_id scope predecessor issued_at expires_at successor sealed_successor rotated_at \
            rotated_by latest_access_token confirmed_at repeat_run repeats
            """,
            "exchange_codes": """
            fingerprint type source_family_id client_id user_id scope redirect_uri signed_in_at expires_at spent_at \
            spent_by family_id state
            """,
        ]
        var kept: [[String]] = []
        for (table, columns) in tables.sorted(by: { $0.key < $1.key }) {
            let all = columns.split(separator: " ").joined(separator: " || '|' || ")
            let rows = try await database.rows(SQL(script: "SELECT \(all) AS kept FROM \(table) WHERE expires_at <= 7"))
            kept.append(try rows.map { try $0.get("kept") })
        }
        return kept
    }

    @Test(
        "after an upgrade a provider is good everywhere that the platform did not set up, or Google and Apple are not",
        arguments: Backend.available)
    func providers(_ backend: Backend) async throws {
        let database = try await backend.openEmpty()
        try await Migrator(database: database, migrations: Migration.all.filter { $0.version < 44 }).migrate(at: 1)
        let issuers: [(String, provider: String?, client: String?, keys: String?)] = [
            ("facebook", "facebook", "c", nil), ("google", "google", "c", nil), ("apple", "apple", "c", nil),
            ("no-button", "google", nil, nil), ("own-keys", "google", "c", "https://k.example"), ("own", nil, "c", nil),
        ]
        try await database.write { db in
            try db.execute(
                """
                INSERT INTO merchants (id, name, logout_reaches_backends, number, created_at, updated_at)
                VALUES ('m', '', 0, 1, 1, 1)
                """)
            try db.execute(
                """
                INSERT INTO users (id, email_verified, profile, created_at, updated_at) VALUES (5, 0, '{}', 1, 1)
                """)
            for (id, provider, client, keys) in issuers {
                try db.execute(
                    """
                    INSERT INTO issuers (id, merchant_id, issuer, provider, client_id, jwks_uri, audiences, algorithms,
                        create_users, created_at, updated_at)
                    VALUES (\(id), 'm', \(id), \(provider), \(client), \(keys), '', '', 0, 1, 1)
                    """)
                try db.execute(
                    """
                    INSERT INTO sessions (id, fingerprint, user_id, issuer_id, signed_in_at, created_at, seen_at,
                        expires_at, user_agent, ip_address)
                    VALUES (\(id), \(id), 5, \(id), 1, 1, 1, 9, '', '')
                    """)
            }
        }
        try await Migrator(database: database, migrations: Migration.all).migrate(at: 2)
        let everywhere: [String] = try await database.rows("SELECT id FROM issuers WHERE signs_in_everywhere = 1")
            .map { try $0.get("id") }
        #expect(Set(everywhere) == ["google", "apple"])
        let confined: [String] = try await database.rows("SELECT id FROM sessions WHERE merchant_id = 'm'")
            .map { try $0.get("id") }
        #expect(confined == ["facebook"])
        await database.close()
    }

    @Test("an upgrade numbers the merchants in the order of their creation", arguments: Backend.available)
    func merchantNumbers(_ backend: Backend) async throws {
        let database = try await backend.openEmpty()
        try await Migrator(database: database, migrations: Migration.all.filter { $0.version < 13 }).migrate(at: 1)
        try await database.write { db in
            for (merchant, time) in [("b", 2), ("c", 1), ("a", 2)] {
                try db.execute(
                    """
                    INSERT INTO merchants (id, name, logout_reaches_backends, created_at, updated_at)
                    VALUES (\(merchant), '', 0, \(time), 3)
                    """)
            }
        }
        try await Migrator(database: database, migrations: Migration.all).migrate(at: 2)
        let numbered = try await database.read { db in
            try db.rows("SELECT id FROM merchants ORDER BY number").map { try $0.get("id", as: String.self) }
        }
        #expect(numbered == ["c", "a", "b"])
        await database.close()
    }
}
