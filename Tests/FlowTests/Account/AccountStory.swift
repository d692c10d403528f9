import Authentication
import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

extension World {
    /// A browser in which a user is signed in.
    func signedIn(as email: String = World.email, agent: String = "Mozilla/5.0 Loom") async throws -> BrowserUser {
        var user = BrowserUser(self)
        let page = try await user.browser.open("/login")
        let answer = try await user.browser.submit(
            page, ["email": email, "password": World.password], headers: ["User-Agent": agent])
        #expect(answer.status == 303)
        return user
    }

    /// The user as administration shows it. Uses a new token, because the test's clock may have moved on.
    func lookUp(_ id: String? = nil) async throws -> Answer {
        let token = try await server.post(
            "/oauth/token", ["grant_type": "client_credentials", "scope": "admin"],
            basic: (server.adminID, server.adminSecret)
        ).require("access_token")
        return try await server.get("/admin/v1/users/\(id ?? user)", bearer: token)
    }

    func user(_ id: String? = nil) async throws -> JSON { try await lookUp(id).json }

    /// The tables and columns that contain `text`, in any letter case.
    func places(of text: String) async throws -> Set<String> {
        let backend = server.backend
        return try await server.database.read { db in
            var places: Set<String> = []
            for (table, column) in try Self.textColumns(backend, db) {
                let values = try db.rows(SQL(script: "SELECT \(column) AS value FROM \(table)"))
                for row in values {
                    let value: String? = try row.get("value")
                    if value?.lowercased().contains(text.lowercased()) == true { places.insert("\(table).\(column)") }
                }
            }
            return places
        }
    }

    /// Every text column of every table, from the engine's own catalog.
    private static func textColumns(
        _ backend: Backend, _ db: any Transaction
    ) throws -> [(table: String, column: String)] {
        let books: SQL =
            switch backend {
            case .sqlite:
                """
                SELECT m.name AS table_name, c.name AS column_name FROM sqlite_master m, pragma_table_info(m.name) c
                WHERE m.type = 'table' AND c.type = 'TEXT'
                """
            case .postgresql:
                """
                SELECT table_name, column_name FROM information_schema.columns
                WHERE table_schema = 'public' AND data_type = 'text'
                """
            }
        return try db.rows(books).map { row in
            (table: try row.get("table_name"), column: try row.get("column_name"))
        }
    }

    /// How many rows of `table` are about the user `id`.
    func rows(of table: String, about id: String) async throws -> Int {
        try await server.database.read { db in
            try db.rows(SQL(script: "SELECT user_id FROM \(table) WHERE user_id = \(id)")).count
        }
    }
}

extension BrowserUser {
    /// Submits a form of the account page in its current state.
    mutating func change(_ form: String, _ fields: [String: String] = [:]) async throws -> Answer {
        try await press(try await browser.open("/account"), action: "/account/\(form)", fields)
    }

    /// The ids of the sessions that the account page offers to end.
    mutating func otherSessions() async throws -> [String] {
        let page = try await browser.open("/account").body
        return page.matches(of: /name="session" value="([0-9a-f]+)"/).map { String($0.output.1) }
    }

    /// The form of the account page that removes the first linked issuer.
    mutating func firstLink() async throws -> [String: String] {
        let page = try await browser.open("/account").body
        let form = try #require(
            page.firstMatch(of: /name="issuer" value="([^"]+)">\s*<input type="hidden" name="subject" value="([^"]+)"/))
        return ["issuer": String(form.output.1), "subject": String(form.output.2)]
    }

    /// Follows the redirect in `answer`.
    mutating func follow(_ answer: Answer) async throws -> Answer {
        try await browser.open(try #require(answer.header("location")))
    }
}

extension World {
    /// What a node's sweeper does, without its mails and callbacks.
    var deletion: UserDeletion {
        UserDeletion(
            database: server.database, grace: .days(14),
            erasure: BulkErasure(database: server.database), clock: server.clock, events: .unheard)
    }
}
