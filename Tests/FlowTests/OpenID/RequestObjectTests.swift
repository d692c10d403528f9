import Cryptography
import JOSE
import JSON
import TestSupport
import Testing
import Values

@Suite("Request objects: signed parameters, sent with the request or fetched from request_uri, and accepted once")
struct RequestObjectTests {
    @Test(
        "Signed parameters of a request object win, the others stay, and the flow ends as signed",
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

    @Test("The page for a refused request object names the reason, and not a missing redirect URI that stood in it")
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
        "A request object is refused unless the client signed it, for this server, and it is within its time",
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
        "An unsigned request object, one at an unknown address, and `registration` are refused",
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

    @Test("A registered request_object_signing_alg is required, and the redirect URI inside must be registered")
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
}
