import JSON
import TestSupport
import Testing

@Suite("What cannot be exchanged")
struct ExchangeRefusalTests {
    @Test("a code for another merchant's client is refused with 403", arguments: Backend.available)
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

    @Test("an unknown clientId gets the same answer as another merchant's", arguments: Backend.available)
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

    @Test("an exchange without clientId gets 400", arguments: Backend.available)
    func missingReceiver(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            let missing = try await world.server.post("/oauth/exchange", ["type": "code"], bearer: token)
            #expect(missing.status == 400)
            #expect(missing.json["error_description"]?.string?.contains("clientId") == true)
        }
    }

    @Test("a public client cannot receive an exchange code", arguments: Backend.available)
    func publicReceiver(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            let code = try await world.exchange(token, for: world.app)
            #expect(code.status == 400)
            #expect(code.error == "invalid_request")
        }
    }

    @Test("a client without a redirect URI cannot receive a session code", arguments: Backend.available)
    func receiverWithoutRedirectURI(backend: Backend) async throws {
        try await World.with(backend) { world in
            let receiver = try await world.confidential(["redirect_uris": []])
            let token = try await world.signIn().require("access_token")
            #expect(try await world.exchange(token, for: receiver).status == 400)
        }
    }

    @Test("an unregistered redirectUri is refused", arguments: Backend.available)
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

    @Test("a third party's token with few scopes cannot sign its user in at the merchant's backend")
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

    @Test("a type other than code and session is refused", arguments: Backend.available)
    func unknownType(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            for type in ["", "token", "CODE"] {
                #expect(try await world.exchange(token, for: world.backend, type: type).status == 400)
            }
        }
    }

    @Test("a client's own token, a dead token and a missing token buy no code", arguments: Backend.available)
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

    @Test("the token may be sent in the body; in the query, or twice, it is refused", arguments: Backend.available)
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

    @Test("both spellings of clientId in one request must agree", arguments: Backend.available)
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
}
