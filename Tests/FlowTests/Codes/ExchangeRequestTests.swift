import JSON
import TestSupport
import Testing

@Suite("An exchange takes a live token of a user, and a client of the same merchant")
struct ExchangeRequestTests {
    @Test("An exchange for another merchant's client is refused with 403", arguments: Backend.available)
    func foreignMerchant(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            let code = try await world.exchange(token, for: world.rivalBackend)
            #expect(code.status == 403)
            #expect(code.json["code"] == nil)
            let session = try await world.exchange(
                token, for: world.rivalBackend, type: "session", redirectURI: world.rivalBackend.redirectURI)
            #expect(session.status == 403)
        }
    }

    @Test(
        "An exchange for an unknown or disabled client gets the same answer as for another merchant's client",
        arguments: Backend.available)
    func unknownReceiver(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            let gone = try await world.confidential([:])
            try await world.change("clients", gone.id, ["disabled": true])
            let foreign = try await world.exchange(token, for: world.rivalBackend)
            for name in ["nobody", gone.id, world.server.adminID] {
                let nobody = World.Actor(id: name, secret: "", redirectURI: "")
                let code = try await world.exchange(token, for: nobody)
                #expect(code.status == 403 && code.body == foreign.body, "\(name)")
                let session = try await world.exchange(
                    token, for: nobody, type: "session", redirectURI: world.rivalBackend.redirectURI)
                #expect(session.status == 403 && session.body == foreign.body, "\(name)")
            }
        }
    }

    @Test("An exchange without clientId gets 400", arguments: Backend.available)
    func missingReceiver(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            let missing = try await world.server.post("/oauth/exchange", ["type": "code"], bearer: token)
            #expect(missing.status == 400)
            #expect(missing.json["error_description"]?.string?.contains("clientId") == true)
        }
    }

    @Test(
        "A public client without public_exchange_codes_from cannot receive an exchange code",
        arguments: Backend.available)
    func publicReceiver(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            let code = try await world.exchange(token, for: world.app)
            #expect(code.status == 400)
            #expect(code.error == "invalid_request")
        }
    }

    @Test("A client without a redirect URI cannot receive an exchange code", arguments: Backend.available)
    func receiverWithoutRedirectURI(backend: Backend) async throws {
        try await World.with(backend) { world in
            let receiver = try await world.confidential([:])
            #expect(try await world.change("clients", receiver.id, ["redirect_uris": []]).status == 200)
            let token = try await world.signIn().require("access_token")
            #expect(try await world.exchange(token, for: receiver).status == 400)
        }
    }

    @Test(
        "An exchange for a session with an unregistered or missing redirectUri is refused",
        arguments: Backend.available)
    func unregisteredRedirectURI(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            for uri in [
                "https://evil.example/", World.webview + "/", World.webview + "?x=1", "HTTPS://loom.example/webview",
            ] {
                let code = try await world.exchange(token, for: world.app, type: "session", redirectURI: uri)
                #expect(code.status == 400, "\(uri)")
                #expect(code.header("location") == nil)
            }
            let missing = try await world.exchange(token, for: world.app, type: "session")
            #expect(missing.json["error_description"]?.string?.contains("redirectUri") == true)
        }
    }

    @Test("A third party's token buys no code for the merchant's backend")
    func thirdParty() async throws {
        try await World.with(.sqlite) { world in
            let stranger = try await world.confidential(["first_party": false])
            let token = try await world.signIn(with: stranger).require("access_token")
            let code = try await world.exchange(token, for: world.backend)
            #expect(code.status == 403)
            #expect(code.error == "access_denied")
            #expect(code.json["code"] == nil)
        }
    }

    @Test("An exchange of a type other than code and session is refused", arguments: Backend.available)
    func unknownType(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            for type in ["", "token", "CODE"] {
                #expect(try await world.exchange(token, for: world.backend, type: type).status == 400)
            }
        }
    }

    @Test(
        "A client-credentials token, an expired token and a missing token buy no exchange code",
        arguments: Backend.available)
    func deadTokens(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.clientToken(world.backend)
            #expect(try await world.exchange(own, for: world.backend).status == 401)
            #expect(try await world.exchange("unknown", for: world.backend).status == 401)
            let none = try await world.server.post("/oauth/exchange", ["clientId": world.backend.id, "type": "code"])
            #expect(none.status == 401)
            #expect(none.header("www-authenticate")?.hasPrefix("Bearer") == true)
            let expired = try await world.signIn().require("access_token")
            world.server.clock.advance(by: .seconds(3600))
            #expect(try await world.exchange(expired, for: world.backend).status == 401)
        }
    }

    @Test(
        "An exchange takes the access token in body or Authorization header, not in both nor in the query",
        arguments: Backend.available)
    func carriers(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            let body = try await world.server.post(
                "/oauth/exchange", ["client_id": world.backend.id, "type": "code", "oauth_token": token])
            #expect(body.status == 200)
            let twice = try await world.server.post(
                "/oauth/exchange", ["clientId": world.backend.id, "type": "code", "oauth_token": token], bearer: token)
            #expect(twice.status == 400)
            let query = try await world.server.post(
                "/oauth/exchange?oauth_token=\(token)", ["clientId": world.backend.id, "type": "code"])
            #expect(query.status >= 400)
            #expect(query.json["code"] == nil)
        }
    }

    @Test("An exchange that sends both clientId and client_id is refused if they differ", arguments: Backend.available)
    func twoSpellings(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            let same = try await world.server.post(
                "/oauth/exchange", ["clientId": world.backend.id, "client_id": world.backend.id, "type": "code"],
                bearer: token)
            #expect(same.status == 200)
            let other = try await world.server.post(
                "/oauth/exchange", ["clientId": world.backend.id, "client_id": world.app.id, "type": "code"],
                bearer: token)
            #expect(other.status == 400)
        }
    }

    private static let state = "a b&c=d/æ?#%"

    private func code(_ world: World, path: String, state: String?, redirectURI: String = World.webview) async throws
        -> String
    {
        let token = try await world.signIn().require("access_token")
        let form = [
            ("clientId", world.app.id), ("type", "session"), ("redirectUri", redirectURI),
        ]
        let answer = try await world.server.post(
            path, form: form + (state.map { [("state", $0)] } ?? []), bearer: token)
        #expect(answer.status == 200, "\(answer)")
        return try #require((answer.json["data"] ?? answer.json)["code"]?.string)
    }

    @Test(
        "A state sent with a session exchange comes back when the session opens, at SPiD's addresses too",
        arguments: Backend.available)
    func comesBack(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            for path in ["/oauth/exchange", "/api/2/oauth/exchange"] {
                for place in ["/session/", "/auth/session/"] {
                    let bought = try await code(world, path: path, state: Self.state)
                    let landing = try await world.server.get(place + bought)
                    #expect(landing.status == 302 && landing.redirected("state") == Self.state)
                    #expect(landing.header("location")?.hasPrefix(World.webview + "?state=") == true)
                }
                // Without a state, or with an empty one, none comes back.
                for none in [nil, ""] {
                    let bought = try await code(world, path: path, state: none)
                    #expect(try await world.server.get("/session/\(bought)").header("location") == World.webview)
                }
            }
        }
    }

    @Test(
        "A state sent with a session exchange is added to the redirect URI's query, also if the user is asked",
        arguments: Backend.available)
    func asked(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let page = World.webview + "?from=app"
            let registered = try await world.change(
                "clients", world.app.id, ["redirect_uris": [.string(page), .string(World.webview)]])
            try #require(registered.status == 200)
            _ = try await world.person("bob@example.com")
            var browser = Browser(world.server)
            try await browser.signIn(as: "bob@example.com")
            let bought = try await code(world, path: "/oauth/exchange", state: Self.state, redirectURI: page)
            let question = try await browser.open("/session/\(bought)")
            #expect(question.status == 200)
            let landing = try await browser.submit(question, ["decision": "allow"])
            #expect(landing.status == 302 && landing.redirected("state") == Self.state)
            #expect(landing.redirected("from") == "app")
        }
    }

    @Test(
        "A state of over 2048 bytes is refused in an exchange for a session, and ignored in one for a code",
        arguments: Backend.available)
    func limits(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            func buy(_ type: String, _ state: String) async throws -> Answer {
                try await world.server.post(
                    "/oauth/exchange",
                    [
                        "clientId": type == "code" ? world.backend.id : world.app.id, "type": type, "state": state,
                        "redirectUri": type == "code" ? "" : World.webview,
                    ], bearer: token)
            }
            #expect(try await buy("session", String(repeating: "x", count: 2048)).status == 200)
            let long = try await buy("session", String(repeating: "x", count: 2049))
            #expect(long.status == 400 && long.error == "invalid_request")
            let nul = try await buy("session", "a\u{0}b")
            #expect(nul.status == 400)
            #expect(try await buy("code", String(repeating: "x", count: 3000)).status == 200)
        }
    }
}
