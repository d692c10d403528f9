import Authentication
import Cryptography
import JOSE
import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Request objects: signed parameters, sent with the request or fetched from request_uri, and accepted once")
struct RequestObjectTests {
    @Test(
        "A request object's signed parameters override those beside it, and other parameters are kept",
        arguments: Backend.available)
    func wins(backend: Backend) async throws {
        try await World.with(backend) { world in
            var signer = try await RequestSigner(world)
            let changes: KeyValuePairs = [
                "request": signer.object(["max_age": 1000]), "nonce": "another nonce", "scope": "openid profile",
                "login_hint": "ada@example.com",
            ]
            let opened = try await signer.party.browser.open(signer.party.address(changes))
            #expect(opened.status == 303)
            let way = try #require(opened.header("location"))
            #expect(!way.contains("request="))
            let page = try await signer.party.browser.open(way)
            #expect(page.words.contains("ada@example.com"), "what stands beside it is kept")
            let delivery = try await signer.party.finish(page)
            let tokens = try await signer.party.redeem(try delivery.require("code"))
            let claims = try await signer.party.verified(try tokens.require("id_token"), nonce: "signed nonce")
            #expect(claims["sub"]?.string == world.user)
            #expect(tokens.json["scope"]?.string == "openid email")
        }
    }

    @Test("The page for an expired request object says so, and does not report its redirect URI as missing")
    func addressInside() async throws {
        try await World.with(.sqlite) { world in
            let signer = try await RequestSigner(world)
            let own = signer.party.client
            let uris: JSON = [.string(own.redirectURI), "https://loom.example/other"]
            try await world.change("clients", own.id, ["redirect_uris": uris])
            world.server.clock.advance(by: .seconds(1))
            let now = world.server.clock.now.seconds
            func open(_ changes: KeyValuePairs<String, JSON>) async throws -> Answer {
                let object = signer.object(changes)
                return try await world.server.get("/oauth/authorize?client_id=\(own.id)&request=\(object)")
            }
            let uri = JSON.string(own.redirectURI)
            let late = try await open(["redirect_uri": uri, "exp": .integer(now - 1)])
            #expect(late.status == 400 && late.isPage)
            #expect(late.words.contains("expired") && !late.words.contains("did not say where"), "\(late)")
            #expect(try await open(["redirect_uri": uri]).status == 303)
        }
    }

    @Test(
        "A request object is refused unless its client signed it, for this server, and it is valid now",
        arguments: Backend.available)
    func refused(backend: Backend) async throws {
        try await World.with(backend) { world in
            let signer = try await RequestSigner(world)
            let now = world.server.clock.now.seconds
            let bad: [KeyValuePairs<String, JSON>] = [
                ["iss": "somebody"], ["aud": "https://other.example"], ["client_id": .string(world.app.id)],
                ["exp": .integer(now - 1)], ["nbf": .integer(now + 90)], ["exp": "soon"],
                ["sub": .string(signer.party.client.id)], ["response_type": "code id_token"],
                ["request": "nested"], ["request_uri": "https://suite.example/object"], ["state": .array([])],
            ]
            for changes in bad {
                #expect(try await signer.refusal(signer.object(changes)) == "invalid_request_object", "\(changes)")
            }
            let other = PrivateKey.generate(.es256)
            let good = signer.object()
            let forged: [String] = [
                signer.object(key: other), signer.object(type: "logout+jwt"), "nonsense", "a.b.c",
                String(good.dropLast(4)) + "AAAA",
                SigningClient.hs256(signer.claims(), key: Array(signer.party.client.secret.utf8)),
                SigningClient.hs256(signer.claims(), key: Array(JSONWebKey(RequestSigner.key).json.text.utf8)),
            ]
            for object in forged {
                #expect(try await signer.refusal(object) == "invalid_request_object", "\(object)")
            }
            #expect(try await signer.refusal(good) == nil)
        }
    }

    @Test(
        "An unsigned request object, an unregistered request_uri, and the parameter `registration` are refused",
        arguments: Backend.available)
    func unsupported(backend: Backend) async throws {
        try await World.with(backend) { world in
            let signer = try await RequestSigner(world)
            let header = Base64URL.encode(Array("{\"alg\":\"none\"}".utf8))
            let payload = Base64URL.encode(Array(signer.claims().text.utf8))
            #expect(try await signer.refusal("\(header).\(payload).") == "request_not_supported")
            let cases = [
                ("request_uri", "https://suite.example/o.jwt", "invalid_request_uri"),
                ("registration", "{}", "registration_not_supported"),
            ]
            for (name, value, error) in cases {
                let address = signer.party.address() + "&\(name)=\(TestServer.encode(value))"
                #expect(try await world.server.get(address).redirected("error") == error)
            }
        }
    }

    @Test("A request object must use the client's registered algorithm and name a registered redirect URI")
    func pinned() async throws {
        try await World.with(.sqlite) { world in
            let pinned = try await RequestSigner(world, ["request_object_signing_alg": "RS256"])
            #expect(try await pinned.refusal(pinned.object()) == "invalid_request_object")
            let signer = try await RequestSigner(world)
            let object = signer.object(["redirect_uri": "https://evil.example/"])
            var browser = Browser(world.server)
            let opened = try await browser.open(signer.party.address(["request": object]))
            let page = try await browser.open(try #require(opened.header("location")))
            #expect(page.status == 400)
            #expect(page.header("location") == nil)
            let refused = try await world.change(
                "clients", signer.party.client.id, ["request_object_signing_alg": "HS256"])
            #expect(refused.status == 400)
        }
    }

    // MARK: Sent again

    @Test(
        "A request object with a jti is accepted once; the sign-in that follows is not a second use",
        arguments: Backend.available)
    func once(backend: Backend) async throws {
        try await World.with(backend) { world in
            var signer = try await RequestSigner(world)
            let object = signer.object(["jti": "first"])
            let opened = try await signer.party.browser.open(signer.party.address(["request": object]))
            let delivery = try await signer.party.finish(
                try await signer.party.browser.open(try #require(opened.header("location"))))
            let tokens = try await signer.party.redeem(try delivery.require("code"))
            _ = try await signer.party.verified(try tokens.require("id_token"), nonce: "signed nonce")

            let replay = try await world.server.get(signer.party.address(["request": object]))
            #expect(replay.redirected("error") == "invalid_request_object")
            #expect(replay.redirected("error_description")?.contains("jti") == true)
            #expect(replay.redirected("state") == "some state")
            #expect(try await signer.refusal(signer.object(["jti": "second"])) == nil)
        }
    }

    @Test("Of concurrent uses of one request object with a jti, only one is accepted", arguments: Backend.available)
    func race(backend: Backend) async throws {
        try await World.with(backend) { world in
            let signer = try await RequestSigner(world)
            let object = signer.object(["jti": "raced"])
            let refusals = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<6 { group.addTask { try await signer.refusal(object) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(refusals.filter { $0 == nil }.count == 1)
            #expect(refusals.filter { $0 == "invalid_request_object" }.count == 5)
        }
    }

    @Test(
        "A jti is used up neither by an invalid request object nor by another client's request object",
        arguments: Backend.available)
    func notSpent(backend: Backend) async throws {
        try await World.with(backend) { world in
            let signer = try await RequestSigner(world)
            let other = try await RequestSigner(world)
            #expect(try await signer.refusal(signer.object(["jti": "same", "aud": "elsewhere"])) != nil)
            #expect(try await signer.refusal(signer.object(["jti": "same", "state": .array([])])) != nil)
            #expect(try await other.refusal(other.object(["jti": "same"])) == nil)
            #expect(try await signer.refusal(signer.object(["jti": "same"])) == nil)
            #expect(try await signer.refusal(signer.object(["jti": "same"])) == "invalid_request_object")
        }
    }

    @Test(
        "A request object that the throttle refuses is not used up, and its jti is not recorded",
        arguments: Backend.available)
    func throttled(backend: Backend) async throws {
        try await World.with(backend) { world in
            let signer = try await RequestSigner(world)
            let now = world.server.clock.now
            try await world.server.database.write { db in
                for _ in 1...1000 { _ = try InteractionThrottle.charge(from: "127.0.0.1", at: now, in: db) }
            }
            func remembered() async throws -> Int {
                try await world.server.database.read { try $0.rows("SELECT fingerprint FROM used_assertions").count }
            }
            let objects = ["one", "two", "three"].map { signer.object(["jti": .string($0)]) }
            for object in objects {
                let slowed = try await world.server.get(signer.party.address(["request": object]))
                #expect(slowed.status == 429 && slowed.header("retry-after") == "1", "\(slowed)")
            }
            #expect(try await remembered() == 0)
            world.server.clock.advance(by: .seconds(1))
            let opened = try await world.server.get(signer.party.address(["request": objects[0]]))
            #expect(opened.status == 303 && opened.redirected("error") == nil, "\(opened)")
            #expect(try await remembered() == 1)
        }
    }

    @Test("A request object with a jti needs an exp within a day, and is refused after that time")
    func bounded() async throws {
        try await World.with(.sqlite) { world in
            let signer = try await RequestSigner(world)
            let now = world.server.clock.now.seconds
            let bad: [KeyValuePairs<String, JSON>] = [
                ["jti": "a", "exp": .null], ["jti": "b", "exp": .integer(now + 86401)], ["jti": ""], ["jti": 7],
            ]
            for changes in bad {
                #expect(try await signer.refusal(signer.object(changes)) == "invalid_request_object", "\(changes)")
            }
            let object = signer.object(["jti": "last", "exp": .integer(now + 86400)])
            #expect(try await signer.refusal(object) == nil)
            world.server.clock.advance(by: .hours(25))
            _ = await Retention(database: world.server.database).sweep(at: world.server.clock.now)
            #expect(try await signer.refusal(object) == "invalid_request_object")
        }
    }

    @Test("A request object without a jti is accepted again until it expires")
    func withoutIdentifier() async throws {
        try await World.with(.sqlite) { world in
            let signer = try await RequestSigner(world)
            let object = signer.object()
            #expect(try await signer.refusal(object) == nil)
            #expect(try await signer.refusal(object) == nil)
            world.server.clock.advance(by: .seconds(61))
            #expect(try await signer.refusal(object) == "invalid_request_object")
        }
    }

    // MARK: At the client's address (request_uri)

    private static let settings = ["outbound_allow_private": "127.0.0.0/8"]

    private func signer(_ world: World, _ host: KeyHost, fragment: String = "") async throws -> RequestSigner {
        try await RequestSigner(world, ["request_uris": [.string(host.address + fragment)]])
    }

    private func error(_ signer: RequestSigner, _ uri: String, _ more: (String, String)? = nil) async throws -> String?
    {
        let address =
            signer.party.address(["request_uri": uri])
            + (more.map { "&\($0.0)=\(TestServer.encode($0.1))" } ?? "")
        return try await signer.party.world.server.get(address).redirected("error")
    }

    @Test("Only a request_uri that the client registered is fetched", arguments: Backend.available)
    func unregistered(backend: Backend) async throws {
        let host = try KeyHost(.null)
        try await World.with(backend, settings: Self.settings) { world in
            let signer = try await signer(world, host)
            host.publish(text: signer.object())
            for uri in [host.address + "2", host.address + "?a=b", "http://127.0.0.1:1/", "file:///etc/passwd", "x"] {
                #expect(try await error(signer, uri) == "invalid_request_uri", "\(uri)")
            }
            let another = try await RequestSigner(world)
            #expect(try await error(another, host.address) == "invalid_request_uri")
            #expect(host.questions == 0)
            #expect(try await error(signer, host.address) == nil)
            #expect(try await error(signer, host.address, ("request", signer.object())) == "invalid_request")
            #expect(host.questions == 1)
        }
    }

    @Test("The fragment of a request_uri is not compared with its content (OpenID Connect Core §6.2)")
    func fragment() async throws {
        let host = try KeyHost(.null)
        try await World.with(.sqlite, settings: Self.settings) { world in
            let signer = try await signer(world, host, fragment: "#registered")
            for fragment in ["", "#registered", "#another", "#" + Base64URL.encode(Digest.sha256([1]))] {
                host.publish(text: signer.object(["state": .string("state\(fragment.count)")]))
                #expect(try await error(signer, host.address + fragment) == nil, "\(fragment)")
            }
            #expect(host.questions == 4, "it is fetched each time")
        }
    }

    @Test("A request_uri whose content is too long, empty or no request object is refused")
    func bad() async throws {
        let host = try KeyHost(.null)
        try await World.with(.sqlite, settings: Self.settings) { world in
            let signer = try await signer(world, host)
            for text in ["", "{}", signer.object(["aud": "elsewhere"]), signer.object(["request_uri": "again"])] {
                host.publish(text: text)
                #expect(try await error(signer, host.address) == "invalid_request_object", "\(text)")
            }
            host.publish(text: String(repeating: "a", count: 20_000))
            #expect(try await error(signer, host.address) == "invalid_request_uri")
        }
    }

    @Test(
        "An IP address may cause sixty fetches of a request_uri, and none of them counts for another address",
        arguments: Backend.available)
    func flood(backend: Backend) async throws {
        let host = try KeyHost(.null)
        let settings = Self.settings.merging(["trusted_proxies": "127.0.0.1"]) { old, _ in old }
        try await World.with(backend, settings: settings) { world in
            let signer = try await signer(world, host)
            host.publish(text: signer.object())
            let address = signer.party.address(["request_uri": host.address])
            func error(from place: String) async throws -> String? {
                try await world.server.get(address, headers: ["X-Forwarded-For": place]).redirected("error")
            }
            for _ in 1...60 { #expect(try await error(from: "198.51.100.7") == nil) }
            for _ in 1...40 { #expect(try await error(from: "198.51.100.7") == "invalid_request_uri") }
            #expect(try await error(from: "198.51.100.8") == nil)
            #expect(host.questions == 61)
        }
    }

    @Test(
        "A request object with a jti that is fetched from a request_uri is accepted once",
        arguments: Backend.available)
    func replayed(backend: Backend) async throws {
        let host = try KeyHost(.null)
        try await World.with(backend, settings: Self.settings) { world in
            let signer = try await signer(world, host, fragment: "#any-hash_of_then")
            host.publish(text: signer.object(["jti": "once"]))
            #expect(try await error(signer, host.address) == nil)
            #expect(try await error(signer, host.address) == "invalid_request_object")
        }
    }

    @Test("A request_uri whose host resolves to a private address is not fetched; invalid ones are refused")
    func privateAddress() async throws {
        let host = try KeyHost(.null)
        try await World.with(.sqlite) { world in
            // That a name leads to a private address shows only when it is looked up.
            let address = host.address.replacing("http://127.0.0.1", with: "https://localhost")
            let signer = try await RequestSigner(world, ["request_uris": [.string(address)]])
            host.publish(text: signer.object())
            #expect(try await error(signer, address) == "invalid_request_uri")
            #expect(host.questions == 0)
            for bad in ["http://rp.example/o", "loom://o", "https://rp.example/o#", "https://rp.example/o#a b", "o"] {
                let refused = try await world.change(
                    "clients", signer.party.client.id, ["request_uris": [.string(bad)]])
                #expect(refused.status == 400 && refused.json["member"] == "request_uris", "\(bad)")
            }
        }
    }
}
