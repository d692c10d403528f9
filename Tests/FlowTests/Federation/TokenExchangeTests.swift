import JSON
import TestSupport
import Testing
import Values

@Suite("Token exchange with an ID token (RFC 8693)") struct TokenExchangeTests {
    private static let accessToken = "urn:ietf:params:oauth:token-type:access_token"

    @Test(
        "Exchanging an issuer's ID token gives an access token of the same user as the jwt-bearer grant",
        arguments: Backend.available)
    func story(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            try await story.trust(host)
            let byAssertion = try await story.signIn(at: host)
            let answer = try await story.exchange(host.sign(story.claims(host)), ["scope": "openid profile"])
            #expect(answer.status == 200, "\(answer)")
            #expect(answer.json["issued_token_type"]?.string == Self.accessToken)
            #expect(answer.json["token_type"] == "Bearer" && answer.json["scope"] == "openid profile")
            #expect(answer.json["expires_in"]?.integer != nil && answer.json["id_token"] != nil)
            #expect(try answer.require("user_id") == byAssertion.require("user_id"))
            #expect(byAssertion.json["issued_token_type"] == nil)
            #expect(try await story.world.isLive(answer.require("access_token")))
            let refreshed = try await story.world.refresh(answer.require("refresh_token"), as: story.app)
            #expect(refreshed.status == 200 && refreshed.json["issued_token_type"] == nil)
            let named = try await story.exchange(
                host.sign(story.claims(host)), ["requested_token_type": Self.accessToken, "nonce": ""])
            #expect(named.status == 200)
        }
    }

    @Test(
        "A client with require_verified_email exchanges no ID token of an unverified user, nor spends it",
        arguments: Backend.available)
    func unverified(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            try await story.trust(host)
            let token = host.sign(story.claims(host))
            try await story.world.change("clients", story.app.id, ["require_verified_email": true])
            story.expect("unverified_user", try await story.exchange(token), "invalid_request")
            try await story.world.change("clients", story.app.id, ["require_verified_email": false])
            #expect(try await story.exchange(token).status == 200)
        }
    }

    @Test("The nonce of an exchanged ID token must be sent beside it, and must match", arguments: Backend.available)
    func nonce(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            try await story.trust(host)
            let token = host.sign(story.claims(host, ["nonce": "n"]))
            story.expect("assertion_nonce_missing", try await story.exchange(token), "invalid_request")
            story.expect("assertion_nonce", try await story.exchange(token, ["nonce": "m"]), "invalid_request")
            #expect(try await story.exchange(token, ["nonce": "n"]).status == 200)
        }
    }

    @Test("A malformed token exchange request is refused and does not spend its ID token", arguments: Backend.available)
    func requests(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            try await story.trust(host)
            let token = host.sign(story.claims(host))
            let idToken = "urn:ietf:params:oauth:token-type:id_token"
            let cases: [(KeyValuePairs<String, String>, String)] = [
                (["subject_token": ""], "missing_parameter"), (["subject_token_type": ""], "missing_parameter"),
                (["subject_token_type": Self.accessToken], "exchange_subject_token_type"),
                (["subject_token_type": "id_token"], "exchange_subject_token_type"),
                (["actor_token": token, "actor_token_type": idToken], "exchange_actor_token"),
                (["actor_token_type": idToken], "exchange_actor_token"),
                (["requested_token_type": idToken], "exchange_requested_token_type"),
                (
                    ["requested_token_type": "urn:ietf:params:oauth:token-type:refresh_token"],
                    "exchange_requested_token_type"
                ),
                (["subject_token": "x"], "assertion_malformed"),
                (["subject_token": String(repeating: "a", count: 16 * 1024 + 1)], "malformed_parameter"),
            ]
            for (changes, reason) in cases {
                story.expect(reason, try await story.exchange(token, changes), "invalid_request")
            }
            let wide = try await story.exchange(token, ["scope": "admin"])
            #expect(wide.status == 400 && wide.error == "invalid_scope")
            let ungranted = try await story.exchange(token, as: story.world.backend)
            #expect(ungranted.status == 400 && ungranted.error == "unauthorized_client")
            // None of these refusals spent it.
            #expect(try await story.exchange(token).status == 200)
        }
    }

    @Test(
        "A refused subject_token gets invalid_request with a description that names the parameter",
        arguments: Backend.available)
    func refusals(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            let issuer = try await story.trust(host, ["create_users": false])
            func exchange(_ changes: KeyValuePairs<String, JSON> = [:]) async throws -> Answer {
                try await story.exchange(host.sign(story.claims(host, changes)))
            }
            let refused: [(KeyValuePairs<String, JSON>, String)] = [
                ([:], "unknown_user"), (["aud": "another-app"], "assertion_audience"),
                (["exp": .integer(1)], "assertion_expired"),
                (["iss": "https://elsewhere.example"], "assertion_of_unknown_issuer"),
            ]
            for (changes, reason) in refused {
                let answer = try await exchange(changes)
                story.expect(reason, answer, "invalid_request")
                #expect(answer.json["error_description"]?.string?.hasPrefix("The subject_token was refused") == true)
            }
            let thief = try await IssuerStory.client(story.world, of: story.world.rival)
            story.expect(
                "assertion_of_unknown_issuer",
                try await story.exchange(host.sign(story.claims(host)), as: thief), "invalid_request")
            try await story.world.change("issuers", issuer, ["disabled": true])
            story.expect("assertion_of_disabled_issuer", try await exchange(), "invalid_request")
            host.publish("/discovery", .init(body: "{}"))
            try await story.world.change("issuers", issuer, ["disabled": false])
            story.world.server.clock.advance(by: .days(2))
            #expect(try await exchange().status == 503)
        }
    }

    @Test(
        "In a token exchange, resource and audience name whom the new access token is for",
        arguments: Backend.available)
    func targets(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            try await story.trust(host)
            let api = "https://api.loom.example"
            func exchange(_ more: KeyValuePairs<String, String>) async throws -> Answer {
                try await story.exchange(host.sign(story.claims(host)), more)
            }
            for more: KeyValuePairs<String, String> in [
                ["resource": api], ["audience": api], ["audience": api, "resource": api],
            ] {
                let answer = try await exchange(more)
                let token = try answer.require("access_token")
                let seen = try await story.world.introspect(token, as: story.world.backend)
                #expect(seen.json["aud"]?.string == api, "\(more) \(seen)")
            }
            let ours = try await exchange(["audience": "http://spindle.test"])
            #expect(ours.status == 200)
            for more: KeyValuePairs<String, String> in [
                ["audience": "https://elsewhere.example"], ["resource": "https://elsewhere.example"],
                ["audience": api, "resource": "http://spindle.test"],
                ["audience": "http://spindle.test", "resource": api],
                ["audience": api, "audience": "https://elsewhere.example"], ["resource": api, "resource": api],
            ] {
                let answer = try await exchange(more)
                #expect(answer.status == 400 && answer.error == "invalid_target", "\(more) \(answer)")
            }
        }
    }

    @Test(
        "Discovery lists the token exchange grant; a SPiD-compatible client gets its errors in SPiD's form",
        arguments: Backend.available)
    func surroundings(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let grant = "urn:ietf:params:oauth:grant-type:token-exchange"
            let document = try await story.world.server.get("/.well-known/openid-configuration")
            #expect(document.json["grant_types_supported"]?.strings?.contains(grant) == true)
            let host = try IssuerHost()
            try await story.trust(host, ["create_users": false])
            let client = try await story.world.confidential(["spid_compatible": true, "grant_types": [.string(grant)]])
            let answer = try await story.exchange(host.sign(story.claims(host)), as: client)
            #expect(answer.status == 400 && answer.error == "unknown_user", "\(answer)")
            #expect(answer.json["type"] == "OAuthException" && answer.json["error_code"] == "400 Bad Request")
        }
    }

    @Test(
        "An ID token of another Spindle server is accepted once, and that server's access tokens are refused",
        arguments: Backend.available)
    func anotherSpindle(_ backend: Backend) async throws {
        try await IdentityProviderStory.with(backend) { both in
            let there = both.there
            try await both.here.change(
                "issuers", both.issuer, ["audiences": [.string(there.app.id)], "create_users": true])
            let here = try await IssuerStory(both.here)
            let signedIn = try await there.signIn(scope: "openid email")
            let idToken = try signedIn.require("id_token")
            let answer = try await here.exchange(idToken)
            #expect(answer.status == 200, "\(answer)")
            let again = try await here.present(
                try await there.signIn(scope: "openid").require("id_token"))
            #expect(try again.require("user_id") == answer.require("user_id"))
            here.expect("assertion_replayed", try await here.present(idToken))

            // Signed by the same key, but for another audience.
            try await there.change("clients", there.app.id, ["access_token_format": "jwt"])
            let accessToken = try await there.signIn(scope: "openid email").require("access_token")
            here.expect("assertion_type", try await here.present(accessToken))
            let other = try await there.signIn(scope: "openid", with: try await there.confidential(["scope": "openid"]))
            here.expect("assertion_audience", try await here.present(try other.require("id_token")))
        }
    }
}
