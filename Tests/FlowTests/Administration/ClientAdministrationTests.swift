import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Administration of clients, in the names of RFC 7591")
struct ClientAdministrationTests {
    @Test(
        "A new client's secrets are in the answer that creates it; a public client gets no client secret",
        arguments: Backend.available)
    func create(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await World.make(
                world.server, world.admin, "clients",
                [
                    "merchant_id": .string(world.merchant), "client_name": "Shop",
                    "redirect_uris": ["https://shop.example/cb"], "grant_types": ["authorization_code"],
                    "scope": "openid", "token_endpoint_auth_method": "client_secret_post",
                ])
            #expect(made.status == 201)
            #expect(made.json["client_id"]?.string?.count == 24)
            #expect(made.json["client_secret"]?.string?.isEmpty == false)
            #expect(made.json["sign_secret"]?.string?.isEmpty == false)
            #expect(made.json["client_secret"] != made.json["sign_secret"])
            #expect(made.json["first_party"]?.bool == true)
            #expect(made.json["redirect_uris"]?.strings == ["https://shop.example/cb"])
            #expect(made.header("cache-control") == "no-store")

            let app = try await World.make(
                world.server, world.admin, "clients",
                ["merchant_id": .string(world.merchant), "client_name": "App", "token_endpoint_auth_method": "none"])
            #expect(app.status == 201)
            #expect(app.json["client_secret"] == nil)
        }
    }

    @Test("The refusal of a new client names the invalid member", arguments: Backend.available)
    func members(backend: Backend) async throws {
        try await World.with(backend) { world in
            let cases: [(String, JSON)] = [
                ("merchant_id", .null), ("merchant_id", "nobody"), ("client_name", 3), ("client_name", ""),
                ("redirect_uris", "https://x.example/"), ("redirect_uris", ["javascript:alert(1)"]),
                ("redirect_uris", ["view-source:https://x.example/"]),
                ("redirect_uris", ["wss://x.example/"]), ("redirect_uris", ["ws://x.example/"]),
                ("redirect_uris", ["MailTo:x@x.example"]), ("redirect_uris", ["tel:1"]),
                ("redirect_uris", ["sms:1"]), ("redirect_uris", ["blob:https://x.example/1"]),
                ("redirect_uris", ["filesystem:https://x.example/1"]), ("redirect_uris", ["about:blank"]),
                ("redirect_uris", ["https://x.example/#f"]), ("redirect_uris", ["https://u:p@x.example/"]),
                ("redirect_uris", ["/relative"]), ("grant_types", ["hybrid"]), ("scope", "a\"b"),
                ("token_endpoint_auth_method", "tls_client_auth"), ("first_party", "yes"),
                ("access_token_lifetime", 0), ("access_token_lifetime", "3600"), ("refresh_token_lifetime", -1),
                ("access_token_format", "paseto"),
            ]
            for (member, value) in cases {
                let base: [JSON.Member] = [
                    .init("merchant_id", .string(world.merchant)), .init("client_name", "x"),
                ].filter { $0.name != member }
                let answer = try await World.make(
                    world.server, world.admin, "clients", .object(base + [.init(member, value)]))
                expectProblem(answer, 400, member: member)
            }
            for member in ["merchants": "name", "users": "email", "issuers": "merchant_id"] {
                expectProblem(
                    try await World.make(world.server, world.admin, member.key, [:]), 400, member: member.value)
            }
        }
    }

    @Test("The refusal of an http callback_uri says where http is allowed", arguments: Backend.available)
    func callbackAddress(backend: Backend) async throws {
        try await World.with(backend) { world in
            let plain: JSON = ["callback_uri": "http://backend.example/told"]
            let answer = try await world.change("clients", world.backend.id, plain)
            expectProblem(answer, 400, member: "callback_uri")
            #expect(answer.json["detail"]?.string?.contains("127.0.0.0/8") == true)
        }
    }

    @Test(
        "An administration request whose body is no JSON object, or of another media type, is refused",
        arguments: Backend.available)
    func bodies(backend: Backend) async throws {
        try await World.with(backend) { world in
            for body in ["", "{", "[]", "\"x\"", "{\"a\":1,}", "{\"client_name\":\"\u{FFFD}\"} x"] {
                let answer = try await world.server.send(
                    "POST", "/admin/v1/clients", body: Array(body.utf8), bearer: world.admin,
                    headers: ["Content-Type": "application/json"])
                expectProblem(answer, 400)
            }
            expectProblem(
                try await world.server.post("/admin/v1/clients", ["client_name": "x"], bearer: world.admin), 415)
            let large = try await world.server.send(
                "POST", "/admin/v1/clients", json: ["client_name": .string(String(repeating: "x", count: 70_000))],
                bearer: world.admin)
            expectProblem(large, 413)
        }
    }

    @Test("A client can have at most two live secrets, and each can be ended", arguments: Backend.available)
    func secrets(backend: Backend) async throws {
        try await World.with(backend) { world in
            let path = "/admin/v1/clients/\(world.backend.id)/secrets"
            let first = try await world.server.get(path, bearer: world.admin).json["items"]?.array?.first?["id"]?.string
            let added = try await world.server.send("POST", path, bearer: world.admin)
            #expect(added.status == 201)
            let renewed = world.backend.with(secret: try added.require("client_secret"))
            for client in [world.backend, renewed] {
                #expect(try await world.token(["grant_type": "client_credentials"], as: client).status == 200)
            }
            expectProblem(try await world.server.send("POST", path, bearer: world.admin), 409)

            let code = try await world.code(of: try await world.signIn())
            let ended = try await world.server.send("DELETE", "\(path)/\(try #require(first))", bearer: world.admin)
            #expect(ended.status == 204)
            #expect(try await world.redeem(code, as: world.backend).error == "invalid_client")
            #expect(try await world.redeem(code, as: renewed).status == 200)
            expectProblem(try await world.server.send("DELETE", "\(path)/nothing", bearer: world.admin), 404)

            let app = try await world.server.send(
                "POST", "/admin/v1/clients/\(world.app.id)/secrets", bearer: world.admin)
            expectProblem(app, 409)
        }
    }

    @Test(
        "A page of a list of large clients has fewer of them, and the next pages have the rest",
        arguments: Backend.available)
    func largePages(backend: Backend) async throws {
        try await World.with(backend) { world in
            let claims = JSON.object((0..<30).map { .init("claim-\($0)", .string(String(repeating: "x", count: 90))) })
            let addresses = (0..<20).map { JSON.string("https://a.example/\($0)" + String(repeating: "x", count: 900)) }
            var made: Set<String> = []
            for _ in 0..<20 {
                let client = try await World.make(
                    world.server, world.admin, "clients",
                    [
                        "client_name": "large", "merchant_id": .string(world.rival), "redirect_uris": .array(addresses),
                        "id_token_claims": claims,
                    ])
                made.insert(try client.require("client_id"))
            }
            var seen: Set<String> = []
            var pages = 0
            var cursor: String? = ""
            while let place = cursor {
                let page = try await world.server.get(
                    "/admin/v1/clients?merchant_id=\(world.rival)&\(place)", bearer: world.admin)
                #expect(page.body.utf8.count < 320 * 1024)
                let ids = try #require(page.json["items"]?.array).compactMap { $0["client_id"]?.string }
                #expect(seen.isDisjoint(with: ids) && !ids.isEmpty)
                seen.formUnion(ids)
                cursor = page.json["next"]?.string.map { "cursor=\($0)" }
                pages += 1
            }
            #expect(pages > 1 && seen.isSuperset(of: made))
        }
    }

    @Test("Administration's PATCH of a client changes only the members that it names", arguments: Backend.available)
    func patch(backend: Backend) async throws {
        try await World.with(backend) { world in
            let path = "/admin/v1/clients/\(world.backend.id)"
            let before = try await world.server.get(path, bearer: world.admin)
            world.server.clock.advance(by: .seconds(5))
            let changed = try await world.change("clients", world.backend.id, ["client_name": "Renamed"])
            #expect(changed.status == 200)
            #expect(changed.json["client_name"]?.string == "Renamed")
            let unchanged = ["redirect_uris", "grant_types", "scope", "merchant_id", "client_id_issued_at"]
            for member in unchanged { #expect(changed.json[member] == before.json[member]) }
            #expect(try await world.server.get(path, bearer: world.admin).body == changed.body)
            expectProblem(
                try await world.change("clients", world.backend.id, ["token_endpoint_auth_method": "none"]), 400,
                member: "token_endpoint_auth_method")
            #expect(try await world.server.get(path, bearer: world.admin).body == changed.body)
            expectProblem(try await world.change("clients", "nobody", ["client_name": "x"]), 404)
        }
    }

    @Test(
        "Administration's DELETE of a client removes it and ends its tokens and secrets",
        arguments: Backend.available)
    func delete(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(world.backend)
            let path = "/admin/v1/clients/\(world.backend.id)"
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            expectProblem(try await world.server.get(path, bearer: world.admin), 404)
            expectProblem(try await world.server.send("DELETE", path, bearer: world.admin), 404)
            #expect(try await world.server.get("/user/\(world.user)", bearer: token).status == 401)
            #expect(try await world.token(["grant_type": "client_credentials"], as: world.backend).status == 401)
        }
    }

    @Test("Administration's lists are paged by a cursor that returns every row once", arguments: Backend.available)
    func paging(backend: Backend) async throws {
        try await World.with(backend) { world in
            for number in 1...5 { _ = try await world.person("user\(number)@example.com") }
            for (kind, name, count) in [("users", "user_id", 6), ("clients", "client_id", 4), ("merchants", "id", 2)] {
                var seen: [String] = []
                var cursor: String? = ""
                while let next = cursor {
                    let page = try await world.server.get(
                        "/admin/v1/\(kind)?limit=2&\(next)", bearer: world.admin)
                    let items = page.json["items"]?.array ?? []
                    #expect(items.count <= 2)
                    seen += items.compactMap { $0[name]?.string }
                    cursor = page.json["next"]?.string.map { "cursor=\($0)" }
                    guard seen.count <= count else { break }
                }
                #expect(seen.count == count, "\(kind)")
                #expect(Set(seen).count == count)
            }
        }
    }

    @Test(
        "A merchant administrator creates at most a thousand clients, and as many can register themselves",
        arguments: Backend.available)
    func most(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            func make(by token: String) async throws -> Answer {
                try await World.make(
                    world.server, token, "clients",
                    [
                        "client_name": "One more", "grant_types": ["client_credentials"],
                        "merchant_id": .string(world.merchant),
                    ])
            }
            let clients = SQL("SELECT id FROM clients WHERE merchant_id = \(world.merchant)")
            let before = try await world.server.database.read { db in try db.rows(clients).count }
            for _ in before..<1000 { #expect(try await make(by: own).status == 201) }
            let refused = try await make(by: own)
            expectProblem(refused, 409)
            #expect(refused.json["detail"]?.string?.contains("1000 clients") == true)
            #expect(try await world.server.database.read { db in try db.rows(clients).count } == 1000)
            #expect(try await make(by: world.admin).status == 201)
            // Self-registered clients are counted apart.
            let initial = try await world.initialToken()
            var stranger = ""
            for _ in 0..<1000 {
                let made = try await world.sendRegistration(with: initial)
                #expect(made.status == 201)
                stranger = try made.require("client_id")
            }
            // Nor can a client become the merchant's own at the limit.
            let adopted = try await world.server.send(
                "PATCH", "/admin/v1/clients/\(stranger)", json: ["first_party": true], bearer: own)
            expectProblem(adopted, 409)
            let registration = try await world.sendRegistration(with: try await world.initialToken())
            #expect(registration.status == 429)
            #expect(registration.json["error_description"]?.string?.contains("one must be deleted first") == true)
        }
    }

    @Test(
        "A thousand self-registered clients do not keep a merchant administrator from creating clients",
        arguments: Backend.available)
    func strangers(backend: Backend) async throws {
        try await World.with(backend) { world in
            let initial = try await world.initialToken()
            for _ in 0..<1000 { #expect(try await world.sendRegistration(with: initial).status == 201) }
            let own = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            #expect(try await World.make(world.server, own, "clients", ["client_name": "Own"]).status == 201)
        }
    }

    @Test(
        "A merchant administrator cannot make a third party's client first-party after a user has allowed it",
        arguments: Backend.available)
    func allowed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let (used, unused) = (try await world.stranger(), try await world.stranger())
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(for: used))
            let code = try await world.allow(page, in: &browser, ticking: page.boxes).requireRedirected("code")
            func adopt(_ client: World.Actor) async throws -> Answer {
                try await world.server.send(
                    "PATCH", "/admin/v1/clients/\(client.id)", json: ["first_party": true], bearer: own)
            }
            expectProblem(try await adopt(used), 409, member: "first_party")
            #expect(try await world.redeemAuthorization(code, as: used).status == 200)
            #expect(try await adopt(unused).status == 200)
        }
    }

    /// `count` addresses of 1000 bytes.
    private func addresses(_ count: Int) -> [String] {
        (10..<10 + count).map { "https://large.example/\($0)/" + String(repeating: "y", count: 975) }
    }

    private func json(_ count: Int) -> JSON { .array(addresses(count).map { .string($0) }) }

    @Test(
        "A client's lists of addresses have at most 64 KiB together, and a longer one can only shrink",
        arguments: Backend.available)
    func bound(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend(["redirect_uris": json(30), "web_origins": json(30)])
            func change(_ member: String, _ count: Int) async throws -> Answer {
                try await world.change("clients", client.id, .object([.init(member, json(count))]))
            }
            for (member, count) in [("post_logout_redirect_uris", 6), ("redirect_uris", 36), ("web_origins", 36)] {
                let refused = try await change(member, count)
                expectProblem(refused, 400, member: member)
                #expect(refused.json["detail"]?.string?.contains("at most 65536 bytes") == true, "\(refused)")
            }
            #expect(try await change("post_logout_redirect_uris", 5).status == 200)

            // A list stored before this rule.
            let stored = addresses(40).joined(separator: "\n")
            try await world.server.database.write { db in
                _ = try db.execute(
                    "UPDATE clients SET post_logout_redirect_uris = \(stored) WHERE id = \(client.id)")
            }
            #expect(try await world.change("clients", client.id, ["client_name": "Still Loom"]).status == 200)
            expectProblem(try await change("redirect_uris", 31), 400, member: "redirect_uris")
            #expect(try await change("post_logout_redirect_uris", 39).status == 200, "shorter, though still too long")
            expectProblem(
                try await change("post_logout_redirect_uris", 40), 400, member: "post_logout_redirect_uris")
        }
    }

    @Test("A client's stored addresses are read without being checked again", arguments: Backend.available)
    func stored(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend()
            // Today's rules refuse each of these, so checking them again would fail.
            let openID: JSON = ["request_uris": ["urn:loom"], "resources": ["https://api.example/#a"]]
            let (text, page) = (openID.text, "https://www.loom.example/a//b")
            try await world.server.database.write { db in
                _ = try db.execute(
                    "UPDATE clients SET openid = \(text), web_origins = \(page) WHERE id = \(client.id)")
            }
            world.server.clock.advance(by: .minutes(1))
            let shown = try await world.server.get("/admin/v1/clients/\(client.id)", bearer: world.admin)
            #expect(shown.status == 200, "\(shown)")
            #expect(shown.json["request_uris"] == openID["request_uris"])
            #expect(shown.json["resources"] == openID["resources"])
            #expect(shown.json["web_origins"] == [.string(page)])
            let preflight = try await world.server.send(
                "OPTIONS", "/oauth/token",
                headers: ["Origin": "https://www.loom.example", "Access-Control-Request-Method": "POST"])
            #expect(preflight.header("access-control-allow-origin") == "https://www.loom.example")
        }
    }
}
