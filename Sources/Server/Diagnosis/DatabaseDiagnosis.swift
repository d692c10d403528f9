import Cryptography
import Directory
import JSON
import Keys
import Migrations
import Storage
import StoragePostgreSQL
import System
import Values

/// Checks whether the database can be used: it answers, its schema is known, the master key is its own and opens the
/// signing keys, and none of its times are in the future.
struct DatabaseDiagnosis {
    let database: any Database
    let configuration: SpindleConfiguration
    let clock: any WallClock
    let random: any RandomSource

    func findings() async -> [Finding] {
        let schema = await schemaFinding()
        guard schema.state != .bad else { return [schema] }
        let (masterKey, key) = await masterKeyFinding()
        var findings = [schema] + (await serverFindings()) + [masterKey]
        if let key { findings.append(await signingKeysFinding(key)) }
        findings.append(await clockFinding())
        if let clients = await pkceFinding() { findings.append(clients) }
        findings += await weakenedFindings()
        if let clients = await sharedSecretFinding() { findings.append(clients) }
        if let clients = await responseTypesFinding() { findings.append(clients) }
        if let development = await developmentFinding() { findings.append(development) }
        return findings
    }

    private func schemaFinding() async -> Finding {
        let name = configuration.database.description
        return await Self.finding("database") {
            switch try await Migrator(database: database, migrations: Migration.all).state() {
            case .current: Finding("database", .good, "\(name) answers, and its schema is up to date")
            case .empty: Finding("database", .bad, InstallationError.uninitialised(name).description)
            case .behind(let steps): Finding("database", .bad, InstallationError.behind(steps).description)
            case .newer(let step): Finding("database", .bad, InstallationError.newer(step).description)
            case .altered(let step): Finding("database", .bad, InstallationError.altered(step).description)
            }
        }
    }

    /// Returns the key too, if it is the right one. Nothing is created or stored here.
    private func masterKeyFinding() async -> (Finding, MasterKey?) {
        do {
            let key: MasterKey
            switch configuration.masterKey {
            case .inline(let given): key = given
            case .file(let file):
                guard let read = try file.read() else { throw MasterKeyError.missing(path: file.path) }
                key = read
            }
            guard try await MasterKeyCheck(key).verify(database, StoredTable.all) == .right else {
                throw MasterKeyError.wrong
            }
            return (Finding("master key", .good, "it is this database's own"), key)
        } catch {
            return (Finding("master key", .bad, Self.reason(error)), nil)
        }
    }

    private func signingKeysFinding(_ key: MasterKey) async -> Finding {
        await Self.finding("signing keys") {
            let keys = try await StoredSigningKeys(database: database, seal: Seal(masterKey: key, random: random)).all()
            guard !keys.isEmpty else { return Finding("signing keys", .bad, "there are none: run `spindle init`") }
            let names = keys.map { "\($0.algorithm.rawValue) \($0.id)" }.joined(separator: ", ")
            return Finding("signing keys", .good, names)
        }
    }

    /// A clock that was once ahead, or is behind now, shows as stored times in the future.
    private func clockFinding() async -> Finding {
        let now = clock.now
        return await Self.finding("clock") {
            let latest = try await database.read { db in
                let moments = try [
                    db.rows("SELECT MAX(applied_at) AS moment FROM schema_steps"),
                    db.rows("SELECT MAX(created_at) AS moment FROM signing_keys"),
                    db.rows("SELECT MAX(updated_at) AS moment FROM clients"),
                ]
                return try moments.compactMap { try $0.first?.get("moment", as: Timestamp?.self) }.max()
            }
            guard let latest, latest > now else { return Finding("clock", .good, "it says \(now.rfc3339)") }
            return Finding(
                "clock", .bad, "it says \(now.rfc3339), but the database has seen \(latest.rfc3339) already")
        }
    }

    /// Lists the clients that may ask for codes without PKCE: a stolen code could be redeemed by others (RFC 9700
    /// §2.1.1). Nil when there are none.
    private func pkceFinding() async -> Finding? {
        do {
            let names = try await database.read { db in
                try db.rows(
                    """
                    SELECT id, name, grant_types FROM clients
                    WHERE requires_pkce = 0 AND \(ClientRight.omitChallenge.held(by: "clients")) AND disabled_at IS NULL
                    ORDER BY id
                    """
                ).compactMap { row -> String? in
                    let grants = try row.get("grant_types", as: String.self).split(separator: "\n")
                    guard grants.contains("authorization_code") else { return nil }
                    return "\(try row.get("id", as: String.self)) (\(try row.get("name", as: String.self)))"
                }
            }
            guard !names.isEmpty else { return nil }
            return Finding("PKCE", .warning, "not required of \(names.count): " + names.joined(separator: ", "))
        } catch {
            return Finding("PKCE", .bad, Self.reason(error))
        }
    }

    /// A warning if this database was ever served with `--dev`, where any user can be signed in by name; otherwise nil.
    private func developmentFinding() async -> Finding? {
        do {
            let mark = DevelopmentFlag(database: database)
            try await mark.refuse(under: configuration.issuer)
            return try await mark.find().map { since in
                Finding(
                    "development", .warning,
                    "this database has been served with --dev since \(since): use it for development only")
            }
        } catch {
            return Finding("development", .bad, Self.reason(error))
        }
    }

    private static func finding(_ subject: String, _ work: () async throws -> Finding) async -> Finding {
        do {
            return try await work()
        } catch {
            return Finding(subject, .bad, reason(error))
        }
    }

    static func reason(_ error: any Error) -> String {
        CommandFailure(error)?.message ?? "failed (\(String(reflecting: type(of: error))))"
    }
}

/// What a PostgreSQL server, and the connection to it, must have for the promises to hold.
extension DatabaseDiagnosis {
    func serverFindings() async -> [Finding] {
        guard case .postgreSQL(let url) = configuration.database, let database = database as? PostgreSQLDatabase else {
            return []
        }
        do {
            var findings: [Finding] = []
            let hosts = try PostgreSQLDatabase.unverifiedHosts(of: url.value, environment: Environment.variables)
            for host in hosts {
                findings.append(
                    Finding(
                        "database", .warning,
                        "nothing proves that \(host) is the database: give its address sslmode=verify-full, or an "
                            + "attacker "
                            + "on the network may read and write everything"))
            }
            for name in try await database.unsafeSettings() {
                findings.append(
                    Finding("database", .warning, "\(name) is off: a power cut loses what was acknowledged, or more"))
            }
            if let apart = try await clockFinding(database) { findings.append(apart) }
            let tables = try await database.tablesWithoutKeys(among: Set(StoredTable.all.map(\.name)))
                .joined(separator: ", ")
            if !tables.isEmpty {
                findings.append(
                    Finding("database", .bad, "keys are missing of \(tables): a restore did not finish, do it again"))
            }
            return findings
        } catch {
            return [Finding("database", .bad, Self.reason(error))]
        }
    }

    /// The server's clock is the only one that all nodes share.
    private func clockFinding(_ database: PostgreSQLDatabase) async throws -> Finding? {
        let before = clock.now
        let now: Timestamp? = try await database.read { db in
            try db.rows("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now").first?.get("now")
        }
        let (ahead, behind) = now.map { (before - $0, $0 - clock.now) } ?? (.zero, .zero)
        let (time, way) = ahead > behind ? (ahead, "ahead of") : (behind, "behind")
        guard time > .seconds(1) else { return nil }
        return Finding(
            "clock", .warning,
            "it is \(time.seconds) s \(way) the database server's: the clocks of all nodes must agree to a second")
    }
}

/// Clients whose OpenID Connect settings weaken what others rely on.
extension DatabaseDiagnosis {
    /// Lists the clients whose ID tokens are signed with a secret shared with this server: a holder of the secret can
    /// make them. Nil when there are none.
    func sharedSecretFinding() async -> Finding? {
        await finding("ID tokens", "signed with a shared secret for", of: .always) { settings in
            settings["id_token_signed_response_alg"] == "HS256"
        }
    }

    /// Lists clients, except self-registered ones, that may ask for access tokens in an authorization response, where
    /// tokens leak (RFC 9700 §2.1.2). The configuration tells about self-registered ones. Nil when there are none.
    func responseTypesFinding() async -> Finding? {
        await finding(
            "response types", "access tokens are sent in URLs for",
            of: ClientRight.belongToMerchant.held(by: "clients")
        ) { settings in
            let types = settings["response_types"]?.array ?? []
            return types.contains { $0.string?.split(separator: " ").contains("token") == true }
        }
    }

    /// Warns of those enabled clients meeting `condition` whose settings are weak; nil when there are none.
    private func finding(
        _ subject: String, _ text: String, of condition: SQL, where isWeak: @escaping @Sendable (JSON) -> Bool
    ) async -> Finding? {
        do {
            let names = try await database.read { db in
                try db.rows(
                    """
                    SELECT id, name, openid FROM clients
                    WHERE openid <> '{}' AND \(condition) AND disabled_at IS NULL ORDER BY id
                    """
                ).compactMap { row -> String? in
                    guard isWeak(try JSON(stored: try row.get("openid", as: String.self))) else { return nil }
                    return "\(try row.get("id", as: String.self)) (\(try row.get("name", as: String.self)))"
                }
            }
            guard !names.isEmpty else { return nil }
            return Finding(subject, .warning, "\(text) \(names.count): " + names.joined(separator: ", "))
        } catch {
            return Finding(subject, .bad, Self.reason(error))
        }
    }
}

extension DatabaseDiagnosis {
    /// Lists the SPiD-compatible clients with settings that weaken them. Empty when there are none.
    func weakenedFindings() async -> [Finding] {
        do {
            let clients = try await database.read { db in
                try db.rows(
                    """
                    SELECT id, name, spid FROM clients
                    WHERE spid <> '{}' AND \(ClientRight.haveSPiDSettings.held(by: "clients"))
                        AND disabled_at IS NULL ORDER BY id
                    """
                ).map { row in
                    (
                        name: "\(try row.get("id", as: String.self)) (\(try row.get("name", as: String.self)))",
                        settings: try JSON(stored: try row.get("spid", as: String.self))
                    )
                }
            }
            func finding(_ subject: String, _ told: String, _ isSet: (JSON) -> Bool) -> Finding? {
                let names = clients.filter { isSet($0.settings) }.map(\.name)
                guard !names.isEmpty else { return nil }
                return Finding(subject, .warning, "\(told) for \(names.count): " + names.joined(separator: ", "))
            }
            return [
                // A reader of the token in a browser's history can buy codes, too.
                finding("front channel", "tokens of the implicit grant buy codes") {
                    $0["exchange_front_channel_tokens"]?.bool == true
                },
                // A holder of the other client's access token can get this client's refresh tokens, too.
                finding("public codes", "another client's tokens buy codes that need no secret") {
                    $0["public_exchange_codes_from"]?.array?.isEmpty == false
                },
                // A stolen code's second redemption goes unnoticed, whichever side comes first.
                finding("codes", "a code may be redeemed twice") { $0["codes_redeemed_twice"]?.bool == true },
            ].compactMap(\.self)
        } catch {
            return [Finding("SPiD's clients", .bad, Self.reason(error))]
        }
    }
}
