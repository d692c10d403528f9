import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Facebook and Google users sign in as SPiD's SDKs do it") struct ProviderSignInTests {
    @Test(
        "A Facebook or Google user is unknown, then registers, then signs in, in every JWT form of the SDKs",
        arguments: Backend.available)
    func story(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            for (number, writing) in ProviderStory.Writing.allCases.enumerated() {
                for type in ["facebook", "googleplus"] {
                    let token = "\(type)-token-\(number)"
                    story.facebook(token, "10\(number)")
                    story.google(token, "20\(number)", email: "alice\(number)@gmail.com")
                    let login = story.sign(story.claims(.authorization, type, token), writing)

                    let unknown = try await story.logIn(login)
                    #expect(unknown.status == 400 && unknown.error == "unknown_user", "\(unknown)")
                    #expect(unknown.json["type"] == "OAuthException")

                    let made = try await story.register(story.sign(story.claims(.registration, type, token), writing))
                    #expect(made.status == 200, "\(made)")
                    let id = try #require(made.data["userId"]?.string)
                    let signedIn = try await story.logIn(login)
                    #expect(try signedIn.require("user_id") == id)
                    #expect(
                        try await story.world.refresh(try signedIn.require("refresh_token"), as: story.phone).status
                            == 200)
                    // SDKs send the same bytes again.
                    #expect(try await story.logIn(login).json["user_id"]?.string == id)
                }
            }
        }
    }

    @Test(
        "A provider's URL that the operator set is fetched even if its address is private",
        arguments: Backend.available)
    func privateAddress(_ backend: Backend) async throws {
        try await ProviderStory.with(backend, settings: ["outbound_allow_private": ""]) { story in
            story.facebook("f", "1")
            story.google("g", "2")
            for (type, token) in [("facebook", "f"), ("googleplus", "g")] {
                let made = try await story.register(type, token)
                #expect(made.status == 200, "\(made)")
                #expect(try await story.logIn(type, token).status == 200)
            }
        }
    }

    @Test(
        "A new user's name comes from the provider, the e-mail address only if the provider runs the mailbox",
        arguments: Backend.available)
    func profile(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            story.google("gmail", "2", email: "Weaver@GMail.com")
            story.google("domain", "3", email: "weaver@loom.example", more: ["hd": "loom.example"])
            story.google("elsewhere", "4", email: "weaver@elsewhere.example")
            story.google("unverified", "5", email: "other@gmail.com", verified: false)
            let expected: [(String, String, String?)] = [
                ("facebook", "f", nil), ("googleplus", "gmail", "weaver@gmail.com"),
                ("googleplus", "domain", "weaver@loom.example"), ("googleplus", "elsewhere", nil),
                ("googleplus", "unverified", nil),
            ]
            for (type, token, email) in expected {
                #expect(try await story.register(type, token).status == 200)
                let signedIn = try await story.logIn(type, token)
                let me = try await story.world.server.get("/me", bearer: try signedIn.require("access_token"))
                #expect(me.json["name"] == "Alice Weaver", "\(token)")
                #expect(me.json["email"]?.string == email, "\(token)")
                #expect(me.json["email_verified"]?.bool == (email == nil ? nil : true), "\(token)")
            }
            #expect(!story.provider.questions.contains { $0.contains("fields") && $0.contains("email") })
        }
    }

    @Test(
        "A provider's user is not registered twice, nor with an address that another user has",
        arguments: Backend.available)
    func exists(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            #expect(try await story.register("facebook", "f").status == 200)
            let again = try await story.register("facebook", "f")
            #expect(again.status == 302 && again.json["code"] == 302 && again.header("location") == nil)
            #expect(again.spidError?["exists"] != nil)

            _ = try await story.world.person("ada@gmail.com")
            story.google("g", "2", email: "ada@gmail.com")
            let before = try await story.counts()
            let taken = try await story.register("googleplus", "g")
            #expect(taken.status == 302 && taken.spidError == again.spidError)
            #expect(try await story.counts() == before)
            #expect(try await story.logIn("googleplus", "g").error == "unknown_user")
        }
    }

    @Test("A provider account that its user removed cannot be registered as a new user", arguments: Backend.available)
    func removed(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            let row = try await story.world.server.database.rows(
                "SELECT issuer_id AS id FROM issuer_settings WHERE provider = 'facebook'")
            let link = ["issuer": try #require(try row.first?.get("id", as: String.self)), "subject": "1"]
            try await story.world.link(try #require(link["issuer"]), "1")
            let button: JSON = ["client_id": .string(ProviderStandIn.facebookApp)]
            let changed = try await story.world.change("issuers", try #require(link["issuer"]), button)
            #expect(changed.status == 200, "\(changed)")
            var ada = try await story.world.signedIn()
            #expect(try await ada.change("links/remove", link).status == 303)
            let before = try await story.counts()
            let again = try await story.register("facebook", "f")
            #expect(again.status == 302, "\(again)")
            #expect(try await story.counts() == before)
        }
    }

    @Test("A new Google user is registered without a name when Google refuses to give one", arguments: [Backend.sqlite])
    func nameless(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.google("g", "1")
            story.provider.fail("/userinfo", status: "403 Forbidden", body: #"{"error":"insufficient_scope"}"#)
            #expect(try await story.register("googleplus", "g").status == 200)
            let signedIn = try await story.logIn("googleplus", "g")
            let me = try await story.world.server.get("/me", bearer: try signedIn.require("access_token"))
            #expect(me.json["name"] == nil && me.json["email"] == "alice@gmail.com")
        }
    }

    @Test("Of concurrent registrations of one provider's user, one succeeds", arguments: Backend.available)
    func registrationRace(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.google("g", "1")
            let token = try await story.world.clientToken(story.phone)
            let jwt = story.sign(story.claims(.registration, "googleplus", "g"))
            let before = try await story.counts()
            let answers = try await race(8) { try await story.world.api("signup_jwt", token, ["jwt": jwt]) }
            #expect(answers.filter { $0.status == 200 }.count == 1)
            #expect(answers.filter { $0.status == 302 }.count == 7)
            #expect(try await story.counts() == [before[0] + 1, before[1] + 1])
        }
    }

    @Test(
        "A disabled or deleted user cannot sign in by a provider's account",
        arguments: Backend.available)
    func disabled(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            let id = try #require(try await story.register("facebook", "f").data["userId"]?.string)
            try await story.world.change("users", id, ["disabled": true])
            #expect(try await story.logIn("facebook", "f").error == "invalid_grant")
            #expect(story.world.server.log.says("provider_user_disabled"))
            try await story.world.change("users", id, ["disabled": false])
            #expect(try await story.logIn("facebook", "f").status == 200)
            #expect(
                try await story.world.server.send("DELETE", "/admin/v1/users/\(id)", bearer: story.world.admin).status
                    == 204)
            #expect(try await story.logIn("facebook", "f").error == "unknown_user")
        }
    }

    @Test(
        "A provider account that is registered at one merchant is an unknown user at another",
        arguments: Backend.available)
    func merchants(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            #expect(try await story.register("facebook", "f").status == 200)
            let made = try await World.make(
                story.world.server, story.world.admin, "clients",
                [
                    "merchant_id": .string(story.world.rival), "client_name": "Rival", "spid_compatible": true,
                    "grant_types": ["urn:ietf:params:oauth:grant-type:jwt-bearer"],
                ])
            let rival = World.Actor(
                id: try made.require("client_id"), secret: try made.require("client_secret"), redirectURI: "")
            let assertion = story.sign(
                story.claims(.authorization, "facebook", "f"), secret: try made.require("sign_secret"))
            #expect(try await story.logIn(assertion, as: rival).error == "invalid_grant")
            #expect(story.world.server.log.says("provider_unknown"))
            let issuer: JSON = [
                "merchant_id": .string(story.world.rival), "issuer": "https://www.facebook.com",
                "provider": "facebook", "audiences": [.string(ProviderStandIn.facebookApp)],
                "app_secret": .string(ProviderStandIn.facebookSecret),
            ]
            #expect(try await World.make(story.world.server, story.world.admin, "issuers", issuer).status == 201)
            #expect(try await story.logIn(assertion, as: rival).error == "unknown_user")
        }
    }

    // MARK: Refusals

    @Test(
        "A provider JWT needs the right signature, algorithm, audience, purpose, time, app and token type",
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
        "A provider's token that is another app's, expired, unknown or without a user is refused",
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
                ("facebook", "page", "provider_token_without_user"),
                ("facebook", "nobody", "provider_token_without_user"),
                ("googleplus", "alien", "provider_token_of_another_app"),
                ("googleplus", "presented", "provider_token_of_another_app"),
                ("googleplus", "unheard-of", "provider_token_invalid"),
                ("googleplus", "spent", "provider_token_invalid"),
                ("googleplus", "nobody", "provider_token_without_user"),
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

    @Test(
        "Sign-in by a provider whose issuer is disabled is refused until the issuer is enabled again",
        arguments: Backend.available)
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
        "A provider's outage is answered with 503: no user is signed in, created, or called unknown",
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

    @Test("Neither a provider's token nor its app's secret is logged, and the database has the secret sealed")
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

    // MARK: Floods

    @Test(
        "One merchant's flood of made-up provider tokens does not stop another merchant's users' sign-ins",
        arguments: Backend.available, ["facebook", "googleplus"])
    func merchantFlood(_ backend: Backend, _ type: String) async throws {
        try await ProviderStory.with(backend) { story in
            let other = try await story.atRival()
            other.facebook("alice", "1")
            other.google("alice", "1")
            #expect(try await other.register(type, "alice").status == 200)
            story.provider.hold("made-up")
            let flood = 50
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 1...flood { group.addTask { try await story.logIn(type, "made-up").status } }
                // The client's share is under way, and the rest is refused.
                for _ in 1...(flood - 8) { #expect(try await group.next() == 503) }
                #expect(try await other.logIn(type, "alice").status == 200)
                story.provider.release()
                for try await status in group { #expect(status == 400) }
            }
        }
    }

    @Test("A client's made-up tokens are checked 600 times, then get 503; each provider has its own limit")
    func clientFlood() async throws {
        try await ProviderStory.with(.sqlite) { story in
            for _ in 1...600 { #expect(try await story.logIn("facebook", "made-up").status == 400) }
            let answer = try await story.logIn("facebook", "made-up")
            #expect(answer.status == 503 && answer.error == "temporarily_unavailable")
            #expect(story.provider.questions.count == 600)
            // Another provider has its own quota.
            #expect(try await story.logIn("googleplus", "made-up").status == 400)
            story.world.server.clock.advance(by: .milliseconds(100))
            #expect(try await story.logIn("facebook", "made-up").status == 400)
        }
    }
}
