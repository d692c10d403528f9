import Directory
import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@Suite("A client that is made with the id of one that was deleted")
struct UsedAgainTests {
    /// As if the client had been deleted and made again with its id, for `merchant` if that is given.
    private func makeAgain(_ client: World.Actor, for merchant: String? = nil, in world: World) async throws {
        world.server.clock.advance(by: .seconds(5))
        let now = world.server.clock.now
        _ = try await world.server.database.write { db in
            try db.execute(
                """
                UPDATE clients SET created_at = \(now), merchant_id = COALESCE(\(merchant), merchant_id)
                WHERE id = \(client.id)
                """)
        }
        world.server.clock.advance(by: .seconds(5))
    }

    @Test(
        "a merchant's change, secret or deletion that waited for its turn is made to another merchant's",
        arguments: Backend.available)
    func waiting(backend: Backend) async throws {
        try await World.with(backend) { world in
            let administrator = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let client = try await world.spidBackend()
            let path = "/admin/v1/clients/\(client.id)"
            let secrets = try await world.server.get("\(path)/secrets", bearer: world.admin).json
            let secret = try #require(secrets["items"]?.array?.first?["id"]?.string, "\(secrets)")
            let deeds: [(method: String, path: String, json: JSON?, status: Int)] = [
                ("PATCH", path, ["redirect_uris": ["https://evil.example/in"]], 200),
                ("POST", "\(path)/secrets", [:], 201), ("DELETE", "\(path)/secrets/\(secret)", nil, 204),
                ("DELETE", path, nil, 204),
            ]
            func send(_ method: String, _ path: String, _ json: JSON?) async throws -> Answer {
                guard let json else { return try await world.server.send(method, path, bearer: administrator) }
                return try await world.server.send(method, path, json: json, bearer: administrator)
            }
            for deed in deeds {
                world.server.interruptions.interrupt { try await makeAgain(client, for: world.rival, in: world) }
                let answer = try await send(deed.method, deed.path, deed.json)
                #expect(world.server.interruptions.wasInterrupted, "\(deed.method) \(deed.path)")
                expectProblem(answer, 404)
                try await makeAgain(client, for: world.merchant, in: world)
            }
            let kept = try await world.server.get(path, bearer: world.admin)
            #expect(kept.json["redirect_uris"] == [.string(client.redirectURI)], "\(kept)")
            #expect(try await world.server.get("\(path)/secrets", bearer: world.admin).json == secrets)
            // Without another client in between, all of it is the administrator's to do.
            for deed in deeds {
                let answer = try await send(deed.method, deed.path, deed.json)
                #expect(answer.status == deed.status, "\(deed.method) \(deed.path): \(answer)")
            }
        }
    }

    @Test("a page that named the former one answers for it", arguments: Backend.available)
    func page(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(for: client))
            try await makeAgain(client, in: world)
            let answer = try await world.answer(page, in: browser, "allow", ticking: page.boxes)
            #expect(answer.status == 400 || answer.status == 410, "\(answer)")
            #expect(try await world.consents() == 0)
        }
    }

    @Test("it is told of sign-ins at the former one", arguments: Backend.available)
    func logins(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend()
            _ = try await world.signIn(with: client)
            try await makeAgain(client, in: world)
            let token = try await world.clientToken(client)
            for path in ["logins", "user/\(world.user)/logins"] {
                #expect(try await world.api(path, token).data.array == [], "\(path)")
            }
            _ = try await world.signIn(with: client)
            #expect(try await world.api("logins", token).data.array?.count == 1)
        }
    }

    @Test("a link that was mailed for the former one leads to another merchant's", arguments: Backend.available)
    func link(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend()
            let token = try await world.clientToken(client)
            #expect(try await world.api("signup", token, ["email": "grace@example.com"]).status == 201)
            let letter = try await world.server.mail.letter(to: "grace@example.com")
            let page = try #require(letter.link(containing: "/password/reset/"))
                .replacing("http://spindle.test", with: "")
            var visitor = BrowserUser(world)
            #expect(try await visitor.browser.open(page).body.contains("Loom"))
            try await makeAgain(client, for: world.rival, in: world)
            #expect(try await !visitor.browser.open(page).body.contains("Rival"))
        }
    }

    @Test("a callback that waits for the former one goes to another merchant's", arguments: Backend.available)
    func callback(backend: Backend) async throws {
        let receiver = try CallbackReceiver(refusing: 1)
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let client = try await world.told(at: receiver)
            try await world.change("users", world.user, ["nickname": "Ada"])
            let refused = try client.read(try await receiver.nextRefused())
            try await world.untilPostponed(.callback)
            try await makeAgain(client.actor, for: world.rival, in: world)
            world.server.clock.advance(by: .minutes(2))
            try await world.change("users", world.user, ["nickname": "Countess"])
            #expect(try await client.next()["id"] != refused["id"])
        }
    }

    @Test(
        "a code that was mailed for the former one signs its user in at another merchant's",
        arguments: Backend.available)
    func passwordless(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend(
                ["grant_types": ["passwordless", "refresh_token", "client_credentials"]])
            let started = try await world.server.post(
                "/passwordless/start", ["client_id": client.id, "connection": "email", "email": World.email])
            let token = try started.require("passwordless_token")
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            try await makeAgain(client, for: world.rival, in: world)
            let resent = try await world.server.post(
                "/passwordless/resend", ["client_id": client.id, "passwordless_token": token])
            #expect(resent.status == 400, "\(resent)")
            let redeemed = try await world.server.post(
                "/oauth/ro", ["grant_type": "passwordless", "code": code, "passwordless_token": token],
                basic: client.basic)
            #expect(redeemed.status == 400, "\(redeemed)")
            #expect(redeemed.json["error"]?["type"]?.string == "invalid_grant", "\(redeemed)")
        }
    }

    @Test(
        "a code that a node of the version before sent is refused, though its client is the same",
        arguments: Backend.available)
    func versionBefore(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend(
                ["grant_types": ["passwordless", "refresh_token", "client_credentials"]])
            let started = try await world.server.post(
                "/passwordless/start", ["client_id": client.id, "connection": "email", "email": World.email])
            let token = try started.require("passwordless_token")
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            let secret = try #require(token.split(separator: ".").dropFirst().first)
            let holder = "app." + Fingerprint<World>(of: "\(client.id)|\(secret)").text
            let database = world.server.database
            let stored: String? = try await database.rows("SELECT browser FROM verifications").first?.get("browser")
            #expect(stored == holder, "that node would refuse this one's")
            try await database.change("UPDATE verifications SET browser = \(holder)")
            let redeemed = try await world.server.post(
                "/oauth/ro", ["grant_type": "passwordless", "code": code, "passwordless_token": token],
                basic: client.basic)
            #expect(redeemed.status == 200, "\(redeemed)")
        }
    }
}
