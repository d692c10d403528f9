import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Facebook and Google users sign in as SPiD's SDKs do it") struct ProviderLoginTests {
    @Test(
        "A provider's user is unknown first, then registered, then signed in, in every spelling the SDKs use",
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

    @Test("A provider's address that the operator set is asked also if it is private", arguments: Backend.available)
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
        "A registration takes the provider's name, and its e-mail address only if the provider runs the mailbox",
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
                let person = try await story.logIn(type, token)
                let me = try await story.world.server.get("/me", bearer: try person.require("access_token"))
                #expect(me.json["name"] == "Alice Weaver", "\(token)")
                #expect(me.json["email"]?.string == email, "\(token)")
                #expect(me.json["email_verified"]?.bool == (email == nil ? nil : true), "\(token)")
            }
            #expect(!story.provider.questions.contains { $0.contains("fields") && $0.contains("email") })
        }
    }

    @Test(
        "A registered user is not created again, and an address is not taken from its user",
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

    @Test(
        "A provider's user whose link the user removed is not registered as another user", arguments: Backend.available)
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

    @Test("A registration succeeds without a name when Google refuses to give one", arguments: [Backend.sqlite])
    func nameless(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.google("g", "1")
            story.provider.fail("/userinfo", status: "403 Forbidden", body: #"{"error":"insufficient_scope"}"#)
            #expect(try await story.register("googleplus", "g").status == 200)
            let person = try await story.logIn("googleplus", "g")
            let me = try await story.world.server.get("/me", bearer: try person.require("access_token"))
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
        "A user who is disabled, is deleted, or has no link any more cannot sign in by a provider",
        arguments: Backend.available)
    func disabled(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            let id = try #require(try await story.register("facebook", "f").data["userId"]?.string)
            try await story.world.change("users", id, ["disabled": true])
            #expect(try await story.logIn("facebook", "f").error == "invalid_grant")
            #expect(story.world.server.log.says("provider_account_disabled"))
            try await story.world.change("users", id, ["disabled": false])
            #expect(try await story.logIn("facebook", "f").status == 200)
            #expect(
                try await story.world.server.send("DELETE", "/admin/v1/users/\(id)", bearer: story.world.admin).status
                    == 204)
            #expect(try await story.logIn("facebook", "f").error == "unknown_user")
        }
    }

    @Test("Two merchants have different users for the same provider's account", arguments: Backend.available)
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
}
