import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Front-channel tokens: ID tokens and access tokens that the authorization endpoint gives")
struct FrontChannelTests {
    @Test(
        "Each front-channel response type is refused to a client that has not registered it",
        arguments: Backend.available)
    func off(backend: Backend) async throws {
        try await World.with(backend) { world in
            for type in ["token", "id_token", "code id_token"] {
                let answer = try await world.server.get(world.authorizeAddress(["response_type": type]))
                #expect(answer.status == 302)
                #expect(
                    answer.header("location")?.hasPrefix("https://loom.example/in#error=unauthorized_client&") == true)
            }
            let party = try await ConformanceParty(world, type: "id_token token")
            for type in ["token", "id_token", "code"] {
                let location = try await world.server.get(party.address(["response_type": type])).header("location")
                #expect(location?.contains("error=unauthorized_client") == true, "\(type)")
            }
            // The order of the words does not matter.
            let turned = try await world.server.get(party.address(["response_type": "token id_token"]))
            #expect(turned.status == 200)
            for type in ["token token", "code none", "token%20", "device"] {
                let location = try await world.server.get(party.address(["response_type": type])).header("location")
                #expect(location?.contains("error=unsupported_response_type") == true, "\(type)")
            }
        }
    }

    @Test(
        "The implicit grant gives a short-lived access token in the fragment, and no refresh token",
        arguments: Backend.available)
    func implicit(backend: Backend) async throws {
        try await World.with(backend) { world in
            var party = try await ConformanceParty(world, type: "token", ["token_endpoint_auth_method": "none"])
            let delivery = try await party.authorize(["scope": "email offline_access", "nonce": ""])
            #expect(Set(delivery.values.keys) == ["access_token", "token_type", "expires_in", "scope", "state", "iss"])
            #expect(delivery["scope"] == "email")
            let token = try delivery.require("access_token")
            #expect(try await world.server.get("/me", bearer: token).json["email"]?.string == World.email)
            let kept = try await world.server.database.read { db in
                try db.rows("SELECT fingerprint FROM refresh_tokens").count
            }
            #expect(kept == 0)
            world.server.clock.advance(by: .seconds(3600))
            #expect(try await !world.isLive(token))
        }
    }

    @Test(
        "No token is sent in a query, and a front-channel ID token needs a nonce and the scope openid",
        arguments: Backend.available)
    func refused(backend: Backend) async throws {
        try await World.with(backend) { world in
            for type in ["token", "id_token", "code id_token token"] {
                let party = try await ConformanceParty(world, type: type)
                var cases: [(KeyValuePairs<String, String>, String)] = [(["response_mode": "query"], "invalid_request")]
                if type != "token" {
                    cases += [(["nonce": ""], "invalid_request"), (["scope": "email"], "invalid_scope")]
                }
                for (changes, error) in cases {
                    let delivery = try party.deliver(try await world.server.get(party.address(changes)))
                    #expect(delivery["error"] == error)
                }
            }
        }
    }

    @Test("An app that the user revokes loses its front-channel access tokens", arguments: Backend.available)
    func takenBack(backend: Backend) async throws {
        try await World.with(backend) { world in
            var party = try await ConformanceParty(
                world, type: "code token", ["first_party": false, "scope": "openid email"])
            let page = try await party.browser.open(party.address(["scope": "openid email"]))
            let signedIn = try await party.browser.submit(page, ["email": World.email, "password": World.password])
            let consent = try await party.browser.open(try #require(signedIn.header("location")))
            let answer = try await world.allow(consent, in: &party.browser, ticking: ["email"])
            let delivery = try party.deliver(answer)
            let token = try delivery.require("access_token")
            #expect(try await world.isLive(token))
            let user = try await party.browser.open("/account")
            _ = try await party.browser.submit(user, ["client": party.client.id], to: "/account/apps/revoke")
            #expect(try await !world.isLive(token))
        }
    }

    @Test("A user's denial is sent in the response mode that a consent would have used", arguments: Backend.available)
    func denied(backend: Backend) async throws {
        try await World.with(backend) { world in
            var party = try await ConformanceParty(world, type: "id_token token", ["first_party": false])
            let page = try await party.browser.open(party.address())
            let signedIn = try await party.browser.submit(page, ["email": World.email, "password": World.password])
            let consent = try await party.browser.open(try #require(signedIn.header("location")))
            let delivery = try party.deliver(try await world.answer(consent, in: party.browser, "deny"))
            party.expectRefusal(delivery, "access_denied")
        }
    }

    @Test("A front-channel access token ends when its browser session expires", arguments: Backend.available)
    func expiredSession(backend: Backend) async throws {
        try await World.with(backend) { world in
            var party = try await ConformanceParty(
                world, type: "id_token token", ["access_token_lifetime": 2_592_000])
            let token = try await party.authorize(["scope": "openid email"]).require("access_token")
            world.server.clock.advance(by: .hours(1))
            #expect(try await world.isLive(token))
            world.server.clock.advance(by: .hours(2))
            #expect(try await !world.isLive(token), "the session was idle for two hours")
            _ = try await world.server.database.write { db in try db.execute("DELETE FROM sessions") }
            #expect(try await !world.isLive(token), "its row is gone")
        }
    }

    @Test(
        "A client that got a front-channel ID token but redeems no code still gets the back-channel logout",
        arguments: Backend.available)
    func unredeemed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let receiver = try CallbackReceiver()
            var party = try await ConformanceParty(
                world, type: "code id_token",
                ["backchannel_logout_uri": .string("http://127.0.0.1:\(receiver.port)/site")])
            #expect(try await party.authorize()["id_token"] != nil)
            _ = try await party.browser.submit(try await party.browser.open("/logout"))
            #expect(try await world.waiting(.notice) == 1)
        }
    }
}
