import JSON
import Storage
import TestSupport
import Testing

@Suite("Refusals have the form of their interface, wherever they arise")
struct RefusalFormTests {
    @Test(
        "An unknown path or a failure below /admin/v1 is answered with a problem document",
        arguments: Backend.available)
    func problems(backend: Backend) async throws {
        try await World.with(backend) { world in
            expectProblem(try await world.server.get("/admin/v1/nothing", bearer: world.admin), 404)
            expectProblem(try await world.server.get("/admin/v1", bearer: world.admin), 404)
            try await world.server.database.write { db in
                _ = try db.execute(
                    "UPDATE clients SET authentication_method = 'odd' WHERE id = \(world.rivalBackend.id)")
            }
            expectProblem(try await world.server.get("/admin/v1/clients", bearer: world.admin), 500)
        }
    }

    @Test("A NUL in Basic credentials gets 401, and one in any field of a form 400", arguments: Backend.available)
    func nul(backend: Backend) async throws {
        try await World.with(backend) { world in
            let form: KeyValuePairs = ["grant_type": "client_credentials"]
            for basic in [("\(world.backend.id)\0", world.backend.secret), (world.backend.id, "\0"), ("\0", "\0")] {
                let answer = try await world.server.post("/oauth/token", form, basic: basic)
                #expect(answer.status == 401)
                #expect(answer.error == "invalid_client")
            }
            for (name, value) in [("client_id", "a\0"), ("unknown\0", "x"), ("unknown", "\0")] {
                let answer = try await world.server.post(
                    "/oauth/token", form: form.map { ($0.key, $0.value) } + [(name, value)])
                #expect(answer.status == 400)
                #expect(answer.error == "invalid_request")
            }
            let raw = try await world.server.send(
                "POST", "/oauth/token", body: Array("grant_type=client_credentials&client_id=a\0".utf8),
                headers: ["Content-Type": "application/x-www-form-urlencoded"])
            #expect(raw.error == "invalid_request")
        }
    }

    @Test(
        "Answers of the token endpoint forbid caching to HTTP/1.0 clients too (RFC 6749 §5.1)",
        arguments: Backend.available)
    func pragma(backend: Backend) async throws {
        try await World.with(backend) { world in
            let granted = try await world.signIn()
            let refused = try await world.signIn(password: "wrong wrong")
            for answer in [granted, refused] {
                #expect(answer.header("cache-control") == "no-store")
                #expect(answer.header("pragma") == "no-cache")
                #expect(answer.header("content-type") == "application/json")
            }
        }
    }

    private static let report = "error bug: the schema refused an unchecked value; please report it"

    @Test(
        "A value that only a CHECK of the database refuses gets 400, with a line in the operator's log",
        arguments: Backend.available)
    func check(backend: Backend) async throws {
        try await World.with(backend) { world in
            // A rule of the schema that no parser of requests knows.
            try await Self.script(
                world, "ALTER TABLE merchants ADD COLUMN spare BIGINT DEFAULT 0 CHECK (length(name) + spare < 20)")
            let answers = [
                try await World.make(world.server, world.admin, "merchants", ["name": "A name of more letters"]),
                try await world.change("merchants", world.merchant, ["name": "A name of more letters"]),
                try await World.make(world.server, world.admin, "merchants", ["name": "Fewer letters"]),
            ]
            try await Self.script(world, "ALTER TABLE merchants DROP COLUMN spare")
            for answer in answers.prefix(2) {
                expectProblem(answer, 400)
                #expect(answer.header("retry-after") == nil)
                #expect(!answer.body.contains("length"), "a public error is short")
            }
            #expect(answers[2].status == 201)
            #expect(world.server.log.lines.count { $0.hasPrefix(Self.report) } == 2)
            #expect(!world.server.log.says("A name of more"), "the log quotes a value")
        }
    }

    @Test(
        "A NUL that no parser refused gets 400 when it is bound to SQL, with a line in the operator's log",
        arguments: Backend.available)
    func bound(backend: Backend) async throws {
        try await World.with(backend) { world in
            // As if a parser had accepted it; DatabaseContractTests show what a statement does with it.
            world.server.interruptions.interrupt { throw StorageError.holdsNUL }
            let answer = try await world.token(["grant_type": "client_credentials"], as: world.backend)
            #expect(answer.status == 400 && answer.error == "invalid_request", "\(answer)")
            #expect(answer.header("retry-after") == nil)
            #expect(world.server.log.lines.contains { $0.hasPrefix(Self.report) && $0.contains("U+0000") })
        }
    }

    @Test("A NUL in a form, a query or a JSON member is refused by its parser", arguments: Backend.available)
    func nulInParsers(backend: Backend) async throws {
        try await World.with(backend) { world in
            let server = world.server
            let registration = try await world.initialToken()
            let spid = try await world.spidBackend()
            let api = try await world.clientToken(spid)
            let nul: JSON = "Loom\u{0}x"
            let user = "users/\(world.user)"
            let documents: [(method: String, path: String, bearer: String, json: JSON)] = [
                ("POST", "/admin/v1/merchants", world.admin, ["name": nul]),
                ("PATCH", "/admin/v1/merchants/\(world.merchant)", world.admin, ["name": nul]),
                ("POST", "/admin/v1/users", world.admin, ["email": "a\u{0}@example.com"]),
                ("POST", "/admin/v1/users", world.admin, ["email": "b@example.com", "name": nul]),
                ("PATCH", "/admin/v1/\(user)", world.admin, ["given_name": nul]),
                ("PATCH", "/admin/v1/\(user)", world.admin, ["address": ["locality": nul]]),
                ("PATCH", "/admin/v1/\(user)", world.admin, ["password": "a quiet\u{0}loom here"]),
                ("PATCH", "/admin/v1/clients/\(world.app.id)", world.admin, ["client_name": nul]),
                (
                    "PATCH", "/admin/v1/clients/\(world.app.id)", world.admin,
                    ["redirect_uris": ["https://a.example/\u{0}"]]
                ),
                ("PATCH", "/admin/v1/clients/\(world.app.id)", world.admin, ["scope": "a\u{0}b"]),
                ("POST", "/admin/v1/clients", world.admin, ["merchant_id": nul]),
                ("POST", "/admin/v1/webhooks", world.admin, ["merchant_id": .string(world.merchant), "name": nul]),
                ("POST", "/admin/v1/issuers", world.admin, ["merchant_id": .string(world.merchant), "issuer": nul]),
                ("POST", "/admin/v1/initial-access-tokens", world.admin, ["merchant_id": nul]),
                ("POST", "/oauth/register", registration, ["redirect_uris": ["https://a.example/\u{0}"]]),
                (
                    "POST", "/oauth/register", registration,
                    ["redirect_uris": ["https://a.example/"], "client_name": nul]
                ),
                (
                    "POST", "/oauth/register", registration,
                    ["redirect_uris": ["https://a.example/"], "contacts": [nul]]
                ),
                (
                    "POST", "/oauth/register", registration,
                    ["redirect_uris": ["https://a.example/"], "software_id": nul]
                ),
                ("POST", "/oauth/token", "", ["grant_type": "password", "username": nul, "password": nul]),
            ]
            for (method, path, bearer, json) in documents {
                let answer = try await server.send(method, path, json: json, bearer: bearer.isEmpty ? nil : bearer)
                #expect(answer.status == 400, "\(method) \(path) \(json.text): \(answer)")
            }
            let forms = [
                "/login", "/login/code", "/signup", "/password", "/oauth/consent", "/oauth/token", "/oauth/exchange",
                "/oauth/introspect", "/oauth/revoke", "/oauth/authorize", "/account/profile", "/api/2/signup",
            ]
            for path in forms {
                let answer = try await server.post(path, ["email": "a\0@example.com", "name": "a\0"], bearer: api)
                #expect((400...403).contains(answer.status), "POST \(path): \(answer)")
            }
            for path in ["/oauth/authorize?state=a%00", "/logout?state=%00", "/api/2/users?name=%00"] {
                let answer = try await server.get(path, bearer: path.hasPrefix("/api") ? api : nil)
                #expect(answer.status == 400, "GET \(path): \(answer)")
            }
            #expect(!server.log.says("the schema refused"), "a parser accepted it")
            let names = try await server.database.read { try $0.rows("SELECT name FROM merchants ORDER BY name") }
            #expect(try names.map { try $0.get("name", as: String.self) } == ["Loom", "Rival"])
        }
    }

    private static func script(_ world: World, _ text: String) async throws {
        try await world.server.database.write { try $0.execute(SQL(script: text)) }
    }
}
