import Storage
import StoragePostgreSQL
import System
import Values

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
