import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("A merchant attaches few accounts to a user, and none that the user removed") struct ProviderAttachLimitTests {
    @Test(
        "A merchant attaches accounts to a user ten times, then every ten minutes, also at an issuer registered anew",
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

    @Test("A second account at one provider cannot be attached to a user", arguments: Backend.available)
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
        "An account that the user removed cannot be attached again at an issuer that the merchant registered anew",
        arguments: Backend.available)
    func removed(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            let person = try await story.world.signIn(with: story.phone)
            let jwt = story.sign(story.claims(.attach, "facebook", "f"))
            #expect(try await story.attach(jwt, to: person).status == 200)
            var ada = try await story.world.signedIn()
            #expect(try await ada.change("links/remove", try await ada.firstLink()).status == 303)
            for _ in 1...2 {
                try await registerAnew(story)
                let refused = try await story.attach(jwt, to: person)
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
        "A provider that the user removed cannot be attached by other merchants, even after its merchant is deleted",
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
                let person = try await there.world.signIn(with: there.phone)
                let refused = try await there.attach(there.sign(there.claims(.attach, "facebook", "f")), to: person)
                #expect(refused.status == 409 && refused.body.contains("account page"), "\(refused)")
            }
            let held = try await world.server.get("/admin/v1/users/\(world.user)/data", bearer: world.admin)
            let removed = held.json["removed_sign_ins"]?.array?.compactMap { $0["issuer"]?.string }
            #expect(removed == ["https://www.facebook.com"], "\(held)")
        }
    }

    @Test(
        "A deleted issuer leaves a record of what users removed there, and none of its secrets",
        arguments: Backend.available)
    func secrets(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("f", "1")
            let person = try await story.world.signIn(with: story.phone)
            let jwt = story.sign(story.claims(.attach, "facebook", "f"))
            #expect(try await story.attach(jwt, to: person).status == 200)
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

    @Test("A third party's client cannot register a provider's users", arguments: Backend.available)
    func thirdParty(_ backend: Backend) async throws {
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
