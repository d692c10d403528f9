import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@Suite("A user attaches a Facebook or Google account") struct ProviderAttachTests {
    private func ada(_ story: ProviderStory) async throws -> Answer {
        try await story.world.signIn(with: story.phone)
    }

    @Test(
        "A user who signed in by password attaches a Facebook account, and then signs in with it",
        arguments: Backend.available)
    func story(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            let ada = try await ada(story)
            let jwt = story.sign(story.claims(.attach, "facebook", "f"))
            #expect(try await story.logIn("facebook", "f").error == "unknown_user")
            let attached = try await story.attach(jwt, to: ada)
            #expect(attached.status == 200 && attached.data["userId"]?.string == story.world.user, "\(attached)")
            #expect(try await story.attach(jwt, to: ada).status == 200, "again is as good")
            #expect(try await story.logIn("facebook", "f").require("user_id") == story.world.user)
            #expect(try await story.register("facebook", "f").status == 302)
            let data = try await story.world.server.get(
                "/admin/v1/users/\(story.world.user)/data", bearer: story.world.admin)
            #expect(data.json["issuer_subjects"]?.array?.first?["issuer"] == "https://www.facebook.com")
        }
    }

    @Test("A provider's account that is attached to another user cannot be attached", arguments: Backend.available)
    func another(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.google("g", "1")
            #expect(try await story.register("googleplus", "g").status == 200)
            let owner = try await story.logIn("googleplus", "g").require("user_id")
            let jwt = story.sign(story.claims(.attach, "googleplus", "g"))
            let refused = try await story.attach(jwt, to: try await ada(story))
            #expect(refused.status == 409 && refused.json["type"] == "error")
            #expect(try await story.logIn("googleplus", "g").require("user_id") == owner)
        }
    }

    @Test("An attach JWT may name the other attach path as audience, and Google's may carry registration claims")
    func tolerances() async throws {
        try await ProviderStory.with(.sqlite) { story in
            story.facebook("f", "1")
            story.google("g", "2")
            let ada = try await ada(story)
            let origin = "http://spindle.test/api/2/"
            for (path, audience) in [("user/attach_jwt", "attach_jwt"), ("attach_jwt", "user/attach_jwt")] {
                let jwt = story.sign(story.claims(.attach, "facebook", "f", ["aud": .string(origin + audience)]))
                #expect(try await story.attach(jwt, to: ada, at: path).status == 200)
            }
            let android = story.sign(story.claims(.registration, "googleplus", "g"))
            #expect(try await story.attach(android, to: ada).status == 200)
            let facebook = story.sign(story.claims(.registration, "facebook", "f"))
            #expect(try await story.attach(facebook, to: ada).status == 400, "Facebook's is right in every SDK")
            let login = story.sign(story.claims(.authorization, "googleplus", "g"))
            #expect(try await story.attach(login, to: ada).status == 400)
            let mixed = story.sign(story.claims(.registration, "googleplus", "g", ["sub": "attach"]))
            #expect(try await story.attach(mixed, to: ada).status == 400)
        }
    }

    @Test("Attaching an account needs a user's token from a SPiD-compatible client, and a jwt parameter")
    func refusals() async throws {
        try await ProviderStory.with(.sqlite) { story in
            story.facebook("f", "1")
            let jwt = story.sign(story.claims(.attach, "facebook", "f"))
            let own = try await story.world.clientToken(story.phone)
            #expect(try await story.world.api("user/attach_jwt", own, ["jwt": jwt]).status == 401)
            #expect(try await story.world.api("user/attach_jwt", nil, ["jwt": jwt]).status == 401)
            let token = try await ada(story).require("access_token")
            #expect(try await story.world.api("user/attach_jwt", token, ["other": jwt]).status == 400)
            #expect(try await story.world.api("signup_jwt", token, ["jwt": jwt]).status == 401)
            #expect(try await story.world.api("signup_jwt", own, ["other": jwt]).status == 400)
            let strict = try await story.world.signIn().require("access_token")
            #expect(try await story.world.api("user/attach_jwt", strict, ["jwt": jwt]).status == 403)
            #expect(try await story.logIn("facebook", "f").error == "unknown_user")
        }
    }

    @Test("A third party's client cannot attach a provider's account", arguments: Backend.available)
    func thirdParty(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            let tokens = try await ada(story)
            let jwt = story.sign(story.claims(.attach, "facebook", "f"))
            try await story.world.change("clients", story.phone.id, ["first_party": false])
            for path in ["user/attach_jwt", "attach_jwt"] {
                #expect(try await story.attach(jwt, to: tokens, at: path).status == 403)
            }
            #expect(try await story.counts() == [1, 0])
            #expect(story.world.server.mail.letters.isEmpty)
        }
    }

    @Test("A token of the implicit grant cannot attach a provider's account", arguments: Backend.available)
    func frontChannel(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            let page = World.Actor(
                id: story.phone.id, secret: story.phone.secret, redirectURI: "https://loom.example/in")
            let set = try await story.world.change(
                "clients", page.id,
                [
                    "redirect_uris": [.string(page.redirectURI)], "response_types": ["token"],
                    "grant_types": [
                        "implicit", "authorization_code", "password", "urn:ietf:params:oauth:grant-type:jwt-bearer",
                    ],
                ])
            try #require(set.status == 200, "\(set)")
            var browser = Browser(story.world.server)
            let back = try await story.world.authorize(in: &browser, ["response_type": "token"], for: page)
            let token = try #require(back.fragment["access_token"], "\(back)")
            #expect(try await story.world.api("me", token).status == 200)
            let jwt = story.sign(story.claims(.attach, "facebook", "f"))
            for path in ["user/attach_jwt", "attach_jwt"] {
                let refused = try await story.world.api(path, token, ["jwt": jwt])
                #expect(refused.status == 403 && refused.body.contains("implicit grant"), "\(refused)")
            }
            #expect(story.world.server.log.says("reason=front_channel_token"))
            #expect(try await story.counts() == [1, 0])
            #expect(story.world.server.mail.letters.isEmpty)
            // A token that was in no address may attach.
            let attached = try await story.attach(jwt, to: try await ada(story))
            #expect(attached.status == 200, "\(attached)")
            #expect(try await story.counts() == [1, 1])
        }
    }

    @Test("Attaching a provider's account mails the user once", arguments: Backend.available)
    func told(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            story.google("g", "2")
            try await story.world.change("users", story.world.user, ["locale": "nb-NO"])
            let tokens = try await ada(story)
            for (type, name) in [("facebook", "Facebook"), ("googleplus", "Google")] {
                let jwt = story.sign(story.claims(.attach, type, type == "facebook" ? "f" : "g"))
                for _ in 1...2 { #expect(try await story.attach(jwt, to: tokens).status == 200) }
                let letter = try await story.world.server.mail.letter(to: World.email)
                #expect(letter.subject == "\(name) kan nå logge inn på kontoen din hos Loom")
                #expect(letter.link(containing: "/account") == "http://spindle.test/account")
            }
            // The next mail is a different one: nothing was reported twice.
            var visitor = BrowserUser(story.world)
            _ = try await visitor.fill("/password", ["email": World.email])
            let next = try await story.world.server.mail.letter(to: World.email)
            #expect(next.link(containing: "/password/reset/") != nil)
        }
    }

    @Test("A user cannot remove another user's link to a provider's account", arguments: Backend.available)
    func foreignLink(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            let jwt = story.sign(story.claims(.attach, "facebook", "f"))
            #expect(try await story.attach(jwt, to: try await ada(story)).status == 200)
            var ada = try await story.world.signedIn()
            let link = try await ada.firstLink()
            _ = try await story.world.person("mallory@example.com")
            var mallory = try await story.world.signedIn(as: "mallory@example.com")
            for fields in [link, [:], ["issuer": link["issuer"] ?? ""], ["subject": link["subject"] ?? ""]] {
                #expect(try await mallory.change("links/remove", fields).status == 303)
            }
            #expect(try await story.logIn("facebook", "f").status == 200)
            #expect(try await ada.change("links/remove", link).status == 303)
            #expect(try await story.logIn("facebook", "f").error == "unknown_user")
        }
    }

    @Test(
        "Revoking an app removes provider links its merchant's apps attached, not those the user connected",
        arguments: Backend.available)
    func revoked(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            story.google("g", "2")
            for (type, token) in [("facebook", "f"), ("googleplus", "g")] {
                let jwt = story.sign(story.claims(.attach, type, token))
                #expect(try await story.attach(jwt, to: try await ada(story)).status == 200)
            }
            var ada = try await story.world.signedIn()
            // Revoking a third party's client removes no links.
            let third = try await story.world.confidential(["first_party": false])
            #expect(try await ada.change("apps/revoke", ["client": third.id]).status == 303)
            #expect(try await story.counts() == [1, 2])
            // As if the user had connected this one as well.
            try await story.world.server.database.write { db in
                try db.execute("UPDATE issuer_subjects SET is_confined = 0 WHERE subject = '2'")
            }
            #expect(try await ada.change("apps/revoke", ["client": story.phone.id]).status == 303)
            #expect(try await story.logIn("facebook", "f").error == "unknown_user")
            #expect(try await story.counts() == [1, 1])
            #expect(try await story.logIn("googleplus", "g").status == 200)
        }
    }

    @Test(
        "Revoking one app ends tokens that the merchant's other app got by sign-in with an attached account",
        arguments: Backend.available)
    func revokedTokens(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            let jwt = story.sign(story.claims(.attach, "facebook", "f"))
            #expect(try await story.attach(jwt, to: try await ada(story)).status == 200)
            let token = try await story.logIn("facebook", "f").require("access_token")
            let family = try await story.world.server.database.rows(
                "SELECT id FROM token_families WHERE issuer_id IS NOT NULL")
            #expect(family.count == 1)
            // The user revokes another of the merchant's apps.
            let other = try await story.world.confidential(["grant_types": ["password"]])
            #expect(try await story.world.signIn(with: other).status == 200)
            var ada = try await story.world.signedIn()
            #expect(try await ada.change("apps/revoke", ["client": other.id]).status == 303)
            #expect(try await story.counts() == [1, 0])
            #expect(try await !story.world.isLive(token))
        }
    }

    @Test(
        "A provider's account that the user removed cannot be attached again by another merchant's app",
        arguments: Backend.available)
    func removedElsewhere(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            let rival = try await story.atRival()
            story.facebook("f", "1")
            let jwt = story.sign(story.claims(.attach, "facebook", "f"))
            #expect(try await story.attach(jwt, to: try await ada(story)).status == 200)
            let tokens = try await rival.world.signIn(with: rival.phone)
            var ada = try await story.world.signedIn()
            #expect(try await ada.change("links/remove", try await ada.firstLink()).status == 303)
            let there = rival.sign(rival.claims(.attach, "facebook", "f"))
            let refused = try await rival.attach(there, to: tokens)
            #expect(refused.status == 409 && refused.body.contains("account page"), "\(refused)")
        }
    }

    @Test("A provider's account that the user removed cannot be attached again by an app", arguments: Backend.available)
    func again(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            let tokens = try await ada(story)
            let jwt = story.sign(story.claims(.attach, "facebook", "f"))
            #expect(try await story.attach(jwt, to: tokens).status == 200)
            var ada = try await story.world.signedIn()
            #expect(try await ada.change("links/remove", try await ada.firstLink()).status == 303)
            let refused = try await story.attach(jwt, to: tokens)
            #expect(refused.status == 409 && refused.body.contains("account page"), "\(refused)")
            #expect(try await story.logIn("facebook", "f").error == "unknown_user")
        }
    }

    @Test(
        "A merchant's removal of a user ends the user's provider links at that merchant only",
        arguments: Backend.available)
    func removed(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            let rival = try await story.atRival()
            story.facebook("f", "1")
            story.facebook("r", "2")
            for (story, token) in [(story, "f"), (rival, "r")] {
                let jwt = story.sign(story.claims(.attach, "facebook", token))
                #expect(try await story.attach(jwt, to: try await ada(story)).status == 200)
            }
            let administrator = try await story.world.clientToken(
                try await story.world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let user = "/admin/v1/users/\(story.world.user)"
            #expect(try await story.world.server.send("DELETE", user, bearer: administrator).status == 204)
            #expect(try await story.logIn("facebook", "f").error == "unknown_user")
            #expect(try await rival.logIn("facebook", "r").status == 200, "another merchant's link stays")
        }
    }

    @Test("Of two users who attach one provider's account at once, one succeeds", arguments: Backend.available)
    func race(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            _ = try await story.world.person("bob@example.com")
            let bob = try await story.world.signIn(with: story.phone, as: "bob@example.com")
            let users = [try await ada(story), bob]
            let jwt = story.sign(story.claims(.attach, "facebook", "f"))
            let answers = try await withThrowingTaskGroup(of: (Int, Int).self) { runners in
                for number in 0..<8 {
                    runners.addTask { (number % 2, try await story.attach(jwt, to: users[number % 2]).status) }
                }
                return try await runners.reduce(into: []) { $0.append($1) }
            }
            let winners = Set(answers.filter { $0.1 == 200 }.map(\.0))
            #expect(winners.count == 1)
            #expect(answers.filter { $0.1 == 409 }.count == 4)
            let owner = try await story.logIn("facebook", "f").require("user_id")
            #expect(try owner == users[winners.first ?? 0].require("user_id"))
        }
    }

    // MARK: Limits

    @Test(
        "A merchant may attach accounts to a user ten times, then once per ten minutes, over all its issuers",
        arguments: Backend.available)
    func overAndOver(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            story.google("g", "2")
            let ada = try await story.world.signIn(with: story.phone)
            let jwt = story.sign(story.claims(.attach, "facebook", "f"))
            for _ in 1...10 {
                for _ in 1...2 { #expect(try await story.attach(jwt, to: ada).status == 200) }
                try await registerAnew(story)
            }
            let refused = try await story.attach(jwt, to: ada)
            #expect(refused.status == 429 && refused.header("retry-after") == "600", "\(refused)")
            let google = story.sign(story.claims(.attach, "googleplus", "g"))
            #expect(try await story.attach(google, to: ada).status == 429, "all issuers of a merchant have one share")
            #expect(try await story.counts() == [1, 0])
            _ = try await story.world.person("bob@example.com")
            let bob = try await story.world.signIn(with: story.phone, as: "bob@example.com")
            #expect(try await story.attach(google, to: bob).status == 200, "another user has another")
            story.world.server.clock.advance(by: .minutes(10))
            #expect(try await story.attach(jwt, to: ada).status == 200)
        }
    }

    @Test("A second account of one provider cannot be attached to a user", arguments: Backend.available)
    func second(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            story.facebook("other", "2")
            let ada = try await story.world.signIn(with: story.phone)
            #expect(try await story.attach(story.sign(story.claims(.attach, "facebook", "f")), to: ada).status == 200)
            let refused = try await story.attach(story.sign(story.claims(.attach, "facebook", "other")), to: ada)
            #expect(refused.status == 409 && refused.body.contains("another account"), "\(refused)")
            #expect(try await story.counts() == [1, 1])
        }
    }

    @Test(
        "An account that the user removed cannot be attached after the merchant registers its issuer anew",
        arguments: Backend.available)
    func removedThenRegistered(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            let tokens = try await story.world.signIn(with: story.phone)
            let jwt = story.sign(story.claims(.attach, "facebook", "f"))
            #expect(try await story.attach(jwt, to: tokens).status == 200)
            var ada = try await story.world.signedIn()
            #expect(try await ada.change("links/remove", try await ada.firstLink()).status == 303)
            for _ in 1...2 {
                try await registerAnew(story)
                let refused = try await story.attach(jwt, to: tokens)
                #expect(refused.status == 409 && refused.body.contains("account page"), "\(refused)")
            }
            #expect(try await story.counts() == [1, 0])
            let world = story.world
            let held = try await world.server.get("/admin/v1/users/\(world.user)/data", bearer: world.admin)
            let removed = held.json["removed_sign_ins"]?.array?.compactMap { $0["issuer"]?.string }
            #expect(removed == ["https://www.facebook.com"], "\(held)")
            _ = try await story.world.person("bob@example.com")
            let bob = try await story.world.signIn(with: story.phone, as: "bob@example.com")
            #expect(try await story.attach(jwt, to: bob).status == 200)
        }
    }

    @Test(
        "A provider account that the user removed cannot be attached even after its merchant is deleted",
        arguments: Backend.available)
    func merchantGone(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            let (world, rival) = (story.world, try await story.atRival())
            story.facebook("f", "1")
            let jwt = story.sign(story.claims(.attach, "facebook", "f"))
            #expect(try await story.attach(jwt, to: try await world.signIn(with: story.phone)).status == 200)
            var ada = try await world.signedIn()
            #expect(try await ada.change("links/remove", try await ada.firstLink()).status == 303)
            let path = "/admin/v1/merchants/\(world.merchant)"
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            let later = try await World.make(world.server, world.admin, "merchants", ["name": "Later"]).require("id")
            for there in [rival, try await story.at(later)] {
                let tokens = try await there.world.signIn(with: there.phone)
                let refused = try await there.attach(there.sign(there.claims(.attach, "facebook", "f")), to: tokens)
                #expect(refused.status == 409 && refused.body.contains("account page"), "\(refused)")
            }
            let held = try await world.server.get("/admin/v1/users/\(world.user)/data", bearer: world.admin)
            let removed = held.json["removed_sign_ins"]?.array?.compactMap { $0["issuer"]?.string }
            #expect(removed == ["https://www.facebook.com"], "\(held)")
        }
    }

    @Test(
        "Deleting an issuer keeps the record of accounts that users removed, and deletes its secrets",
        arguments: Backend.available)
    func secrets(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            let tokens = try await story.world.signIn(with: story.phone)
            let jwt = story.sign(story.claims(.attach, "facebook", "f"))
            #expect(try await story.attach(jwt, to: tokens).status == 200)
            var ada = try await story.world.signedIn()
            #expect(try await ada.change("links/remove", try await ada.firstLink()).status == 303)
            try await delete(story)
            let (server, admin) = (story.world.server, story.world.admin)
            #expect(try await server.get("/admin/v1/issuers", bearer: admin).json["items"]?.array?.count == 1)
            let secrets: [String?] = try await server.database.rows("SELECT sealed_app_secret FROM issuer_settings")
                .map { try $0.get("sealed_app_secret") }
            #expect(secrets == [nil], "Google's")
            #expect(try await story.world.count("removed_sign_ins") == 1)
            let gone = try await server.send("DELETE", "/admin/v1/merchants/\(story.world.merchant)", bearer: admin)
            #expect(gone.status == 204)
            #expect(try await server.database.rows("SELECT issuer_id FROM issuer_settings").isEmpty)
            #expect(try await story.world.count("removed_sign_ins") == 1, "a provider's counts at other merchants")
        }
    }

    @Test("A third party's client cannot register a new user by a provider's account", arguments: Backend.available)
    func thirdPartyRegistration(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            try await story.world.change("clients", story.phone.id, ["first_party": false])
            #expect(try await story.register("facebook", "f").status == 403)
            #expect(try await story.counts() == [1, 0])
        }
    }

    private func delete(_ story: ProviderStory) async throws {
        let (server, admin) = (story.world.server, story.world.admin)
        let list = try await server.get("/admin/v1/issuers", bearer: admin).json["items"]?.array
        let id = try #require(list?.first { $0["provider"] == "facebook" }?["id"]?.string)
        #expect(try await server.send("DELETE", "/admin/v1/issuers/\(id)", bearer: admin).status == 204)
    }

    /// Deletes the merchant's issuer for Facebook, and registers it again.
    private func registerAnew(_ story: ProviderStory) async throws {
        try await delete(story)
        let merchant = JSON.Member("merchant_id", .string(story.world.merchant))
        let members = ProviderStory.issuers.first { $0.key == "facebook" }?.value.members ?? []
        let made = try await World.make(
            story.world.server, story.world.admin, "issuers", .object([merchant] + members))
        #expect(made.status == 201, "\(made)")
    }
}
