import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("What is refused of providers' tokens") struct ProviderRefusalTests {
    @Test(
        "An SDK's JWT must be right in signature, algorithm, audience, purpose, time, app and token type",
        arguments: Backend.available)
    func assertions(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            #expect(try await story.register("facebook", "f").status == 200)
            func claims(_ changes: KeyValuePairs<String, JSON>) -> JSON {
                story.claims(.authorization, "facebook", "f", changes)
            }
            let unsigned = story.sign(claims([:]), .rfc, header: ["alg": "none"]).split(separator: ".")
            let cases: [(String, String)] = [
                (story.sign(claims([:]), secret: story.phone.secret), "provider_assertion_signature"),
                (story.sign(claims([:]), header: ["alg": "none", "typ": "JWT"]), "provider_assertion_algorithm"),
                (unsigned.prefix(2).joined(separator: ".") + ".", "provider_assertion_algorithm"),
                (story.sign(claims(["aud": "http://other.example/oauth/token"])), "provider_assertion_audience"),
                (story.sign(claims(["aud": "http://spindle.test/api/2/signup_jwt"])), "provider_assertion_audience"),
                (story.sign(claims(["sub": "registration"])), "provider_assertion_purpose"),
                (story.sign(claims(["exp": "2001-01-01 00:00:00+0000"])), "provider_assertion_expired"),
                (story.sign(claims(["iss": "another app"])), "provider_assertion_issuer"),
                (story.sign(claims(["token_type": "myspace"])), "provider_assertion_token_type"),
            ]
            let asked = story.provider.questions.count
            for (assertion, reason) in cases {
                let answer = try await story.logIn(assertion)
                #expect(answer.status == 400 && answer.error == "invalid_grant", "\(reason): \(answer)")
                #expect(story.world.server.log.says(reason))
            }
            #expect(story.provider.questions.count == asked, "the provider is asked last")
        }
    }

    @Test(
        "A provider's token of another app, an expired one and an unknown one are refused",
        arguments: Backend.available)
    func tokens(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("alien", "1", app: "999")
            story.facebook("sibling", "1", app: "of another app of the developer")
            var page = ProviderStandIn.Token(app: ProviderStandIn.facebookApp, subject: "1")
            page.type = "PAGE"
            story.provider.give(facebook: "page", page)
            story.provider.give(facebook: "nobody", .init(app: ProviderStandIn.facebookApp, subject: nil))
            var over = ProviderStandIn.Token(app: ProviderStandIn.facebookApp, subject: "1")
            over.expiresIn = -3_999_999_999
            story.provider.give(facebook: "over", over)

            story.provider.give(google: "alien", .init(app: "alien.apps.googleusercontent.com", subject: "1"))
            var presented = ProviderStandIn.Token(app: ProviderStandIn.googleApp, subject: "1")
            presented.presenter = "alien.apps.googleusercontent.com"
            story.provider.give(google: "presented", presented)
            var spent = ProviderStandIn.Token(app: ProviderStandIn.googleApp, subject: "1")
            spent.expiresIn = 0
            story.provider.give(google: "spent", spent)
            story.provider.give(google: "nobody", .init(app: ProviderStandIn.googleApp, subject: nil))

            let cases: [(type: String, token: String, reason: String)] = [
                ("facebook", "alien", "provider_token_of_another_app"),
                ("facebook", "sibling", "provider_token_of_another_app"),
                ("facebook", "unheard of", "provider_token_invalid"), ("facebook", "over", "provider_token_invalid"),
                ("facebook", "page", "provider_token_of_nobody"), ("facebook", "nobody", "provider_token_of_nobody"),
                ("googleplus", "alien", "provider_token_of_another_app"),
                ("googleplus", "presented", "provider_token_of_another_app"),
                ("googleplus", "unheard-of", "provider_token_invalid"),
                ("googleplus", "spent", "provider_token_invalid"), ("googleplus", "nobody", "provider_token_of_nobody"),
            ]
            let before = try await story.counts()
            for (type, token, reason) in cases {
                let token = token.replacing(" ", with: "-")
                let login = try await story.logIn(type, token)
                #expect(login.status == 400 && login.error == "invalid_grant", "\(token): \(login)")
                #expect(story.world.server.log.says(reason), "\(token)")
                let registration = try await story.register(type, token)
                #expect(registration.status == 400 && registration.json["type"] == "error", "\(token): \(registration)")
            }
            #expect(try await story.counts() == before)
        }
    }

    @Test(
        "A client that is not SPiD-compatible or lacks the grant is refused a provider's sign-in",
        arguments: Backend.available)
    func clients(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            #expect(try await story.register("facebook", "f").status == 200)
            let assertion = story.sign(story.claims(.authorization, "facebook", "f"))
            try await story.world.change("clients", story.phone.id, ["spid_compatible": false])
            for writing in ProviderStory.Writing.allCases {
                let answer = try await story.logIn(story.sign(story.claims(.authorization, "facebook", "f"), writing))
                #expect(answer.status == 400 && answer.error == "invalid_grant")
            }
            #expect(try await story.register("facebook", "f").status == 403)
            try await story.world.change(
                "clients", story.phone.id, ["spid_compatible": true, "grant_types": ["client_credentials"]])
            #expect(try await story.logIn(assertion).error == "unauthorized_client")
            let refused = try await story.register("facebook", "f")
            #expect(refused.status == 400 && refused.json["type"] == "error")
        }
    }

    @Test("A disabled issuer is treated as absent", arguments: Backend.available)
    func disabledIssuer(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            #expect(try await story.register("facebook", "f").status == 200)
            let list = try await story.world.server.get("/admin/v1/issuers", bearer: story.world.admin)
            let issuer = list.json["items"]?.array?.first { $0["provider"] == "facebook" }
            let id = try #require(issuer?["id"]?.string)
            try await story.world.change("issuers", id, ["disabled": true])
            #expect(try await story.logIn("facebook", "f").error == "invalid_grant")
            try await story.world.change("issuers", id, ["disabled": false])
            #expect(try await story.logIn("facebook", "f").status == 200)
        }
    }

    @Test(
        "A provider's outage is reported as one: no user is signed in, created, or reported as unknown",
        arguments: Backend.available)
    func outages(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            story.google("g", "2")
            let before = try await story.counts()
            let failures: [(path: String, status: String, body: String)] = [
                ("", "500 Broken", "{}"), ("", "429 Too Many Requests", "{}"), ("", "302 Found", "{}"),
                ("", "200 OK", "<html>"), ("", "200 OK", "{}"), ("", "200 OK", #"{"data":{}}"#), ("", "200 OK", "[]"),
                ("", "400 Bad Request", "{}"), ("", "200 OK", String(repeating: " ", count: 100_000) + "{}"),
                ("/debug_token", "400 Bad Request", #"{"error":{"code":190}}"#),
            ]
            for (path, status, body) in failures {
                story.provider.fail(path, status: status, body: body)
                for (type, token) in [("facebook", "f"), ("googleplus", "g")] {
                    guard path.isEmpty || type == "facebook" else { continue }
                    let login = try await story.logIn(type, token)
                    #expect(login.status == 503 && login.error == "temporarily_unavailable", "\(status) \(login)")
                    #expect(login.header("retry-after") == "10")
                    let registration = try await story.register(type, token)
                    #expect(registration.status == 503 && registration.header("retry-after") == "10", "\(status)")
                }
            }
            for path in ["/me", "/userinfo"] {
                story.provider.fail(path, status: "500 Broken")
                #expect(
                    try await story.register(path == "/me" ? "facebook" : "googleplus", path == "/me" ? "f" : "g")
                        .status == 503)
                let other = path == "/me" ? #"{"id":"7"}"# : #"{"sub":"7"}"#
                story.provider.fail(path, status: "200 OK", body: other)
                #expect(
                    try await story.register(path == "/me" ? "facebook" : "googleplus", path == "/me" ? "f" : "g")
                        .status == 503)
            }
            story.provider.stop()
            #expect(try await story.logIn("facebook", "f").status == 503)
            #expect(story.world.server.log.says("provider_unavailable"))
            #expect(try await story.counts() == before)
        }
    }

    @Test("Neither a provider's token nor an app's secret is in the log or, unsealed, in the database")
    func silence() async throws {
        try await ProviderStory.with(.sqlite) { story in
            story.facebook("a-facebook-token", "1")
            story.google("a-google-token", "2")
            for (type, token) in [("facebook", "a-facebook-token"), ("googleplus", "a-google-token")] {
                #expect(try await story.register(type, token).status == 200)
                #expect(try await story.logIn(type, token).status == 200)
            }
            story.provider.fail("", status: "500 Broken")
            #expect(try await story.logIn("facebook", "a-facebook-token").status == 503)
            let secrets = ["a-facebook-token", "a-google-token", "Facebook app", "a%20Facebook", "appsecret_proof"]
            let said = story.world.server.log.lines.filter { line in secrets.contains { line.contains($0) } }
            #expect(said.isEmpty)
            let stored: [String?] = try await story.world.server.database.read { db in
                try db.rows("SELECT sealed_app_secret FROM issuer_settings").map { try $0.get("sealed_app_secret") }
            }
            #expect(stored.compactMap { $0 }.count == 1 && !stored.contains(ProviderStandIn.facebookSecret))
            let shown = try await story.world.server.get("/admin/v1/issuers", bearer: story.world.admin)
            #expect(shown.body.contains("com.example.loom") && !shown.body.contains(ProviderStandIn.facebookSecret))
        }
    }
}
