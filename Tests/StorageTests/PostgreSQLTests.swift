import Dispatch
import Storage
import StoragePostgreSQL
import TestSupport
import Testing

/// The particulars of a server across a socket: it may die, restart, refuse and answer too late.
@Suite(.enabled(if: PostgreSQLCluster.isAvailable)) struct PostgreSQLTests {
    @Test("PostgreSQL uses an index for a statement that is prepared while its table is empty")
    func plans() async throws {
        let database = try await Backend.postgresql.open()
        let plan = try await database.read { db in
            try db.rows("EXPLAIN SELECT expires_at FROM token_families WHERE id = \("x")").map {
                try $0.get("QUERY PLAN", as: String.self)
            }
        }
        #expect(plan.first?.hasPrefix("Index Scan") == true, "\(plan)")
        await database.close()
    }

    @Test("Remote hosts in a database URL whose certificates would not be verified are found and named")
    func unverified() throws {
        func hosts(_ url: String, _ environment: [String: String] = [:]) throws -> [String] {
            try PostgreSQLDatabase.unverifiedHosts(of: url, environment: environment)
        }
        #expect(try hosts("postgresql://spindle@db.example/spindle") == ["db.example"])
        #expect(try hosts("postgresql://db.example/spindle?sslmode=verify-ca") == ["db.example"])
        #expect(try hosts("postgresql://db.example/spindle?sslmode=verify-full").isEmpty)
        #expect(try hosts("postgresql://db.example/spindle", ["PGSSLMODE": "verify-full"]).isEmpty)
        #expect(try hosts("postgresql://db.example/s?sslmode=require", ["PGSSLMODE": "verify-full"]) == ["db.example"])
        #expect(try hosts("postgresql://one.example,127.0.0.1,two.example/s") == ["one.example", "two.example"])
        #expect(try hosts("postgresql:///spindle", ["PGHOST": "db.example"]) == ["db.example"])
        for url in [
            "postgresql:///spindle", "postgresql://localhost/s", "postgresql://[::1]/s", "postgresql:///s?host=/run",
        ] {
            #expect(try hosts(url).isEmpty, "\(url)")
        }
    }

    @Test("The hostaddr in a database URL, not host, decides whether verification is needed, and is named")
    func unverifiedAddresses() throws {
        func hosts(_ url: String, _ environment: [String: String] = [:]) throws -> [String] {
            try PostgreSQLDatabase.unverifiedHosts(of: url, environment: environment)
        }
        #expect(try hosts("postgresql://localhost/s?hostaddr=192.0.2.1") == ["192.0.2.1"])
        #expect(try hosts("postgresql://localhost/s", ["PGHOSTADDR": "192.0.2.1"]) == ["192.0.2.1"])
        #expect(try hosts("postgresql://db.example/s?hostaddr=127.0.0.1").isEmpty)
        #expect(try hosts("postgresql://one.example,localhost/s?hostaddr=,192.0.2.1") == ["one.example", "192.0.2.1"])
        #expect(try hosts("postgresql:///s", ["PGSERVICE": "x"]) == ["service x"])
    }

    @Test("PGSSLMODE does not count as verification where a service file may overrule it")
    func overruledVariables() throws {
        let environment = ["PGSSLMODE": "verify-full"]
        func hosts(_ url: String) throws -> [String] {
            try PostgreSQLDatabase.unverifiedHosts(of: url, environment: environment)
        }
        #expect(try hosts("postgresql://db.example/s").isEmpty)
        #expect(try hosts("postgresql:///s?service=db") == ["service db"])
        #expect(try hosts("postgresql:///s?service=db&sslmode=verify-full").isEmpty)
    }

    @Test(
        "A database URL with a part of its password unencoded is refused, and the error does not quote it",
        arguments: [
            "postgresql://u:p@tWXyZ@127.0.0.1:1/x", "postgresql://u:tWXyZ/rest@127.0.0.1:1/x",
            "postgresql://u:p@@tWXyZ@127.0.0.1:1/x", "postgresql://u:1/tWXyZ@127.0.0.1:1/x",
            "postgresql://u:p@tWXyZ/rest@127.0.0.1:1/x", "postgresql://u:p@a:tWXyZ@127.0.0.1:1/x",
            "postgresql://u@one,two:1,tWXyZ/x?port=1,70000",
        ])
    func misreadPasswords(_ url: String) {
        let error = #expect(throws: StorageError.self) {
            try PostgreSQLDatabase.unverifiedHosts(of: url, environment: [:])
        }
        #expect(error == .unreadable("the PostgreSQL connection string cannot be parsed"))
    }

    @Test(
        "A database URL with lists of hosts and ports, sockets or encoded passwords is accepted",
        arguments: [
            "postgresql://u:p%40ss%2F@one.example:5432,two.example/x", "postgresql://%2Frun%2Fa%40b/x",
            "postgresql://u@/x?host=@abstract", "postgresql://[::1]:5432/x", "host=a,b port=1,65535 user=u@v",
            "postgresql:///x?user=a@b", "postgresql://u:p?s@db.example/x",
        ])
    func readAddresses(_ url: String) {
        #expect(throws: Never.self) { try PostgreSQLDatabase.unverifiedHosts(of: url, environment: [:]) }
    }

    @Test("A PostgreSQL transaction that loses a race runs its whole closure again")
    func retries() async throws {
        let database = try await PostgreSQLDatabase.open(url: try await things())
        try await database.run("INSERT INTO things (id, number) VALUES (\(1), 0), (\(2), 0)")
        let runs = Ledger<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for turn in 0..<200 {
                group.addTask {
                    try await database.write { db in
                        runs.note(turn)
                        let id = 1 + turn % 2
                        let rows = try db.rows("SELECT number FROM things WHERE id = \(id)")
                        let number = try rows.first?.get("number", as: Int.self) ?? 0
                        try db.execute("UPDATE things SET number = \(number + 1) WHERE id = \(id)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await database.number(of: 1) == 100)
        #expect(try await database.number(of: 2) == 100)
        #expect(runs.entries.count > 200, "there was no race to lose")
        await database.close()
    }

    @Test("A PostgreSQL transaction whose closure ignores an error fails, and nothing of it is stored")
    func swallowed() async throws {
        let database = try await PostgreSQLDatabase.open(url: try await things(), connections: 1)
        let error = await #expect(throws: StorageError.self) {
            try await database.write { db in
                try db.execute("INSERT INTO things (id) VALUES (\(1))")
                _ = try? db.execute("INSERT INTO things (id) VALUES (\(1))")
            }
        }
        #expect(error?.kind == "conflict")
        #expect(try await database.countThings() == 0)
    }

    @Test("A value of another type than its PostgreSQL column is refused, and the error does not quote it")
    func hostileValues() async throws {
        let database = try await PostgreSQLDatabase.open(url: try await things(), connections: 1)
        let mistyped = await #expect(throws: StorageError.self) {
            try await database.run("INSERT INTO things (number) VALUES (\("tWXyZ-secret"))")
        }
        #expect(mistyped == .rejected("22P02"))
        #expect(try await database.countThings() == 0)
    }

    @Test("The error for an invalid or unreachable database URL does not contain its password")
    func badAddress() async throws {
        let addresses = [
            "postgresql://u:tWXyZ@[::1/x", "tWXyZ", "postgresql://u:tWXyZ@127.0.0.1:1/x",
            "host=/nowhere password=tWXyZ",
        ]
        for url in addresses {
            let error = await #expect(throws: StorageError.self) { _ = try await PostgreSQLDatabase.open(url: url) }
            #expect(!"\(String(describing: error))".contains("tWXyZ"))
        }
    }

    @Test(
        "A PostgreSQL database of another encoding than UTF8 is refused, and the error tells what to do",
        arguments: ["LATIN1", "SQL_ASCII"])
    func encoding(_ encoding: String) async throws {
        let url = try await PostgreSQLCluster.shared()?.freshDatabaseURL(encoding: encoding) ?? ""
        let error = await #expect(throws: StorageError.self) { _ = try await PostgreSQLDatabase.open(url: url) }
        #expect(error?.kind == "unsuitable")
        #expect("\(String(describing: error))".contains(encoding))
        #expect("\(String(describing: error))".contains("createdb -E UTF8"))
    }

    @Test("A PostgreSQL transaction kept beyond its closure refuses statements")
    func escaped() async throws {
        final class Pocket: @unchecked Sendable { var kept: (any Transaction)? }
        let pocket = Pocket()
        let database = try await PostgreSQLDatabase.open(url: try await things(), connections: 1)
        try await database.write { db in pocket.kept = db }
        #expect(throws: StorageError.self) { try pocket.kept?.execute("INSERT INTO things (id) VALUES (\(1))") }
    }

    @Test("More PostgreSQL statements than stay prepared all run, also between others that fail")
    func manyStatements() async throws {
        let database = try await PostgreSQLDatabase.open(url: try await things(), connections: 1)
        try await database.run("INSERT INTO things (id) VALUES (\(0))")
        for round in 1...2 {
            for column in 0..<300 {
                let statement = statement(naming: "c\(column)", binding: 0)
                await #expect(throws: StorageError.self) { try await database.write { try $0.execute(statement) } }
                let row = try await database.read { try $0.rows(select(naming: "c\(column)", binding: round)).first }
                #expect(try row?.get("c\(column)", as: Int.self) == round)
            }
        }
        let kept = try await database.read { try $0.rows("SELECT count(*) AS n FROM pg_prepared_statements").first }
        #expect(try kept?.get("n", as: Int.self) ?? 0 <= 256)
    }

    @Test("PostgreSQL commits are synchronous and serializable, even if the database URL turns that off")
    func durability() async throws {
        let url = try await things() + "&options=-csynchronous_commit%3Doff"
        let database = try await PostgreSQLDatabase.open(url: url)
        let row = try await database.write { db in
            try db.rows(
                """
                SELECT current_setting('synchronous_commit') AS promise,
                    current_setting('transaction_isolation') AS isolation
                """
            ).first
        }
        #expect(try row?.get("promise", as: String.self) == "on")
        #expect(try row?.get("isolation", as: String.self) == "serializable")
    }

    @Test("Work that waits too long for a busy database connection is refused before the connection is free")
    func patience() async throws {
        let database = try await PostgreSQLDatabase.open(
            url: try await things(), connections: 1, patience: .milliseconds(300))
        let hasBegun = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)
        async let stuck: Void = database.read { _ in
            hasBegun.signal()
            _ = mayEnd.wait(timeout: .now() + 30)
        }
        await hasBegun.waited()
        // Refused while the other still holds the one connection, which it releases only below.
        let error = await #expect(throws: StorageError.self) { _ = try await database.countThings() }
        #expect(error?.kind == "unavailable")
        mayEnd.signal()
        try await stuck
        #expect(try await database.countThings() == 0)
        await database.close()
    }

    @Test("With ten thousand database calls waiting, further ones are refused at once; those waiting are done")
    func fullQueue() async throws {
        let database = try await PostgreSQLDatabase.open(
            url: try await things(), connections: 1, patience: .seconds(60))
        let hasBegun = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)
        async let slow: Void = database.read { _ in
            hasBegun.signal()
            _ = mayEnd.wait(timeout: .now() + 10)
        }
        await hasBegun.waited()
        let refused = await withTaskGroup { group in
            for _ in 0..<10_100 { group.addTask { (try? await database.read { _ in true }) == nil } }
            var refused = 0
            for await isRefused in group where isRefused {
                refused += 1
                if refused == 100 { mayEnd.signal() }
            }
            return refused
        }
        try await slow
        #expect(refused == 100)
    }

    @Test("A PostgreSQL database object that is released leaves no connection behind")
    func letGo() async throws {
        let url = try await things()
        do {
            let database = try await PostgreSQLDatabase.open(url: url, connections: 4)
            try await database.run("INSERT INTO things (id) VALUES (\(1))")
        }
        let other = try await PostgreSQLDatabase.open(url: url, connections: 1)
        var connections = 0
        for _ in 0..<500 {
            let row = try await other.read { db in
                try db.rows("SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database()").first
            }
            connections = try row?.get("n") ?? 0
            if connections == 1 { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(connections == 1)
    }

    private func things() async throws -> String {
        let url = try await Backend.postgresql.freshAddress()
        let database = try await PostgreSQLDatabase.open(url: url, connections: 1)
        try await database.createThings()
        await database.close()
        return url
    }

    // A text composed at run time, which only a script may have.
    private func statement(naming name: String, binding value: Int) -> SQL {
        var text = SQL.StringInterpolation(literalCapacity: 80, interpolationCount: 1)
        text.appendLiteral("INSERT INTO things (id, text) VALUES (")
        text.appendInterpolation(value)
        text.appendLiteral(", '\(name)')")
        return SQL(stringInterpolation: text)
    }

    private func select(naming name: String, binding value: Int) -> SQL {
        var text = SQL.StringInterpolation(literalCapacity: 80, interpolationCount: 1)
        text.appendLiteral("SELECT CAST(")
        text.appendInterpolation(value)
        text.appendLiteral(" AS BIGINT) AS \(name)")
        return SQL(stringInterpolation: text)
    }
}
