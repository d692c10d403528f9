import Authentication
import Cryptography
import JSON
import Mail
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Deleting a user erases their data and tells the clients that they used")
struct DeletedUserTests {
    private static let agent = "Mozilla/5.0 (Loom; Shuttle) TellTale/7.3"
    private static let receiverAllowed = ["outbound_allow_private": "127.0.0.0/8", "deletion_grace": "0"]

    @Test(
        "No table holds a deleted user's e-mail address, name, phone number, device or IP address",
        arguments: Backend.available)
    func nothingPersonal(backend: Backend) async throws {
        let settings = ["trusted_proxies": "127.0.0.1/32", "deletion_grace": "0"]
        try await World.with(backend, settings: settings) { world in
            let (email, address, agent) = ("augusta@example.com", "203.0.113.77", Self.agent)
            let user = try await World.make(
                world.server, world.admin, "users",
                [
                    "email": .string(email), "password": .string(World.password), "name": "Augusta Byron",
                    "phone_number": "+44 20 7946 1815",
                ]
            ).require("user_id")
            try await live(world, as: email, from: address)
            // A sign-up and a reset that wait for their mails know the address too.
            for path in ["/signup", "/password"] {
                var other = BrowserUser(world)
                _ = try await other.fill(path, ["email": email, "password": "quite another loom", "name": "Augusta"])
            }

            let told = [email, "Byron", "7946 1815", "TellTale", address]
            for text in told { #expect(try await !world.places(of: text).isEmpty, "the search does not find \(text)") }
            let tables = [
                "sessions", "token_families", "connections", "consents", "known_devices", "verifications", "logins",
            ]
            for table in tables { #expect(try await world.rows(of: table, about: user) > 0, "\(table)") }

            var visitor = BrowserUser(world)
            let headers = ["User-Agent": agent, "X-Forwarded-For": address]
            let page = try await visitor.browser.open("/login", headers: headers)
            _ = try await visitor.browser.submit(
                page, ["email": email, "password": World.password], headers: headers)
            let form = try await visitor.browser.open("/account/delete")
            let answer = try await visitor.browser.submit(form, ["current_password": World.password], headers: headers)
            #expect(answer.status == 200)

            for text in told { #expect(try await world.places(of: text) == [], "\(text)") }
            for table in tables { #expect(try await world.rows(of: table, about: user) == 0, "\(table)") }
            // Rows without a foreign key hold the user's id alone, until they expire.
            #expect(try await world.places(of: World.email) != [], "another user's data stays")
        }
    }

    /// Signs in in a browser and on a phone, and allows a third party's client a scope.
    private func live(_ world: World, as email: String, from address: String) async throws {
        _ = try await world.signIn(scope: "profile", as: email, from: address)
        let stranger = try await world.confidential(["client_name": "Stranger", "first_party": false])
        var visitor = BrowserUser(world)
        let headers = ["User-Agent": Self.agent, "X-Forwarded-For": address]
        let page = try await visitor.browser.open("/login", headers: headers)
        _ = try await visitor.browser.submit(page, ["email": email, "password": World.password], headers: headers)
        let consent = try await visitor.browser.open(world.authorizeAddress(["scope": "profile"], for: stranger))
        let allowed = try await visitor.browser.submit(consent, ["decision": "allow", "scope": "profile"])
        let answer = try await visitor.follow(allowed)
        _ = try await world.redeemAuthorization(try answer.requireRedirected("code"), as: stranger)
    }

    @Test(
        "A user's deletion is announced to each client they used, signed with the client's sign secret",
        arguments: Backend.available)
    func callbacks(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: Self.receiverAllowed) { world in
            let secret = try await client(world, calledBackAt: receiver, path: "/used")
            _ = try await client(world, calledBackAt: receiver, path: "/never", uses: false)
            #expect(
                try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: world.admin).status
                    == 204)
            let call = try await receiver.next()
            #expect(call.path == "/used")
            #expect(call.contentType == "text/plain; charset=utf-8")
            let parts = call.body.split(separator: ".").map(String.init)
            try #require(parts.count == 2)
            let expected = Digest.hmacSHA256(Array(parts[1].utf8), key: Array(secret.utf8))
            #expect(parts[0] == Base64URL.encode(expected))
            let payload = try JSON(parsing: try #require(Base64URL.decode(parts[1])))
            #expect(payload["algorithm"]?.string == "HMAC-SHA256")
            #expect(payload["object"]?.string == "user")
            let entry = try #require(payload["entry"]?.array?.first)
            #expect(entry["userId"]?.string == world.user)
            #expect(entry["changedFields"]?.string == "status")
            #expect(entry["status"]?.string == "deleted")
            #expect(entry["time"]?.string == "2027-01-15 08:00:00")
            #expect(!payload.text.contains("ada@"), "a callback has the user's id and no other data")
        }
    }

    @Test("A client's server that is down is told of a user's deletion later", arguments: Backend.available)
    func down(backend: Backend) async throws {
        let receiver = try CallbackReceiver(refusing: 1)
        try await World.with(backend, settings: Self.receiverAllowed) { world in
            _ = try await client(world, calledBackAt: receiver, path: "/used")
            _ = try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: world.admin)
            #expect(try await receiver.nextRefused().path == "/used")
            try await world.untilPostponed(.callback)
            world.server.clock.advance(by: .hours(1))
            #expect(try await receiver.next().path == "/used")
        }
    }

    /// A confidential client with a `callback_uri`, and Ada's use of it. Returns its sign secret.
    private func client(
        _ world: World, calledBackAt receiver: CallbackReceiver, path: String, uses: Bool = true
    ) async throws -> String {
        let made = try await World.make(
            world.server, world.admin, "clients",
            [
                "merchant_id": .string(world.merchant), "client_name": "Told", "grant_types": ["password"],
                "scope": "profile", "callback_uri": .string("http://127.0.0.1:\(receiver.port)\(path)"),
            ])
        let actor = World.Actor(
            id: try made.require("client_id"), secret: try made.require("client_secret"), redirectURI: "")
        if uses { #expect(try await world.signIn(with: actor).status == 200) }
        return try made.require("sign_secret")
    }

    @Test("A user's deletion that is due is carried out once, by any node", arguments: Backend.available)
    func due(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            _ = try await visitor.browser.submit(
                try await visitor.browser.open("/account/delete"), ["current_password": World.password])
            let nodes = [world.deletion, world.deletion]
            world.server.clock.advance(by: .days(14) - .milliseconds(1))
            for node in nodes { #expect(try await node.deleteDue(at: world.server.clock.now).gone == 0) }
            world.server.clock.advance(by: .milliseconds(1))
            let now = world.server.clock.now
            let gone = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<8 { group.addTask { try await nodes[number % 2].deleteDue(at: now).gone } }
                return try await group.reduce(0, +)
            }
            // The server's own sweeper may have been quicker than all of them.
            #expect(gone <= 1)
            #expect(try await world.lookUp().status == 404)
            #expect(try await world.places(of: World.email) == [])
        }
    }
}
