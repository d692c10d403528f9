import Storage

/// Checks for `spindle doctor`, and before tables are made.
extension PostgreSQLDatabase {
    /// The hosts of `url` that are connected to without checking their certificate, so that an attacker on the network
    /// path can pose as the database. What `url` leaves out is in the variables that libpq reads. Sockets and this
    /// machine need no check.
    public static func unverifiedHosts(of url: String, environment: [String: String]) throws -> [String] {
        let parameters = try ServerAddress(url).given
        // A service file takes precedence over the environment, and its content is not read here.
        let named = parameters["service"] ?? environment["PGSERVICE"]
        func value(_ parameter: String, _ variable: String) -> String? {
            parameters[parameter] ?? (named == nil ? environment[variable] : nil)
        }
        // With the system's authorities, libpq also checks the name.
        let isVerified =
            value("sslmode", "PGSSLMODE") == "verify-full"
            || value("sslrootcert", "PGSSLROOTCERT") == "system"
        guard !isVerified else { return [] }
        let service = named.map { "service \($0)" }
        func list(_ parameter: String, _ variable: String) -> [String] {
            (value(parameter, variable) ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        // If both are given, libpq connects to the address and uses the host only as a name for it.
        let names = list("host", "PGHOST")
        let addresses = list("hostaddr", "PGHOSTADDR")
        var hosts = (0..<max(names.count, addresses.count)).map { index in
            let address = index < addresses.count ? addresses[index] : ""
            return address.isEmpty && index < names.count ? names[index] : address
        }.filter { !$0.isEmpty }
        if hosts.isEmpty, let service { hosts = [service] }
        return hosts.filter { host in
            let isSocket = host.hasPrefix("/") || host.hasPrefix("@")
            return !isSocket && host != "localhost" && host != "::1" && !host.hasPrefix("127.")
        }
    }

    /// The names of the tables in the schema where new ones are made, except those of extensions.
    public func tables() async throws -> Set<String> {
        try await read { db in
            let rows = try db.rows(
                """
                SELECT c.relname::text AS name FROM pg_catalog.pg_class c
                JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT EXISTS (
                    SELECT 1 FROM pg_catalog.pg_depend d
                    WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
                """)
            return Set(try rows.map { try $0.get("name", as: String.self) })
        }
    }

    /// The server's settings with which a power cut could lose acknowledged work.
    public func unsafeSettings() async throws -> [String] {
        try await read { db in
            try db.rows(
                """
                SELECT name FROM pg_catalog.pg_settings
                WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY name
                """
            ).map { try $0.get("name") }
        }
    }

    /// Those of `tables` that lack keys because a restore was interrupted. `pg_restore` makes primary keys after the
    /// data, and foreign keys after all indexes, in the order of their tables, of which webhooks is the last.
    public func tablesWithoutKeys(among tables: Set<String>) async throws -> [String] {
        try await read { db in
            try db.rows(
                """
                SELECT c.relname::text AS name FROM pg_catalog.pg_class c
                WHERE c.relkind = 'r' AND c.relnamespace = (
                        SELECT s.relnamespace FROM pg_catalog.pg_class s WHERE s.oid = 'schema_steps'::regclass)
                    AND (NOT EXISTS (
                            SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p')
                        OR c.relname = 'webhooks' AND NOT EXISTS (
                            SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f'))
                ORDER BY 1
                """
            ).map { try $0.get("name", as: String.self) }.filter(tables.contains)
        }
    }
}
