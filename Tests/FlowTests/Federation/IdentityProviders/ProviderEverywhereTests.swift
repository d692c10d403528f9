import JSON
import TestSupport
import Testing

@Suite("Only the platform makes a provider's sign-ins good at every merchant")
struct ProviderEverywhereTests {
    static let facebook: JSON = [
        "provider": "facebook", "create_users": true, "audiences": [.string(ProviderStandIn.facebookApp)],
        "client_id": .string(ProviderStandIn.facebookApp), "app_secret": .string(ProviderStandIn.facebookSecret),
    ]

    /// Registers an issuer of Loom with `members` and `more`.
    func make(_ world: World, _ members: JSON, _ more: JSON = [:], by token: String) async throws -> Answer {
        let all = (members.members ?? []) + (more.members ?? [])
        return try await World.make(
            world.server, token, "issuers", .object([.init("merchant_id", .string(world.merchant))] + all))
    }

    func merchantsToken(_ world: World) async throws -> String {
        try await world.clientToken(
            try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
            scope: "admin:merchant")
    }

    /// Goes to Facebook, and comes back with a code.
    private func signIn(_ browser: inout Browser, _ world: World, at issuer: String) async throws -> Answer {
        let page = try await browser.open(world.authorizeAddress())
        let departure = try await browser.follow(try page.requireLink(to: "/login/with/\(issuer)?"))
        let state = try departure.requireRedirected("state")
        return try await browser.open("/login/with/\(issuer)/callback?code=c&state=\(state)")
    }

    @Test(
        "A merchant's own Facebook app signs users in at that merchant alone, until the platform widens it",
        arguments: Backend.available)
    func ownersApp(backend: Backend) async throws {
        let graph = try ProviderStandIn()
        let settings = graph.settings.merging(IdentityProviderStory.settings) { $1 }
        try await World.with(backend, settings: settings) { world in
            graph.give(
                facebook: "kari",
                ProviderStandIn.Token(
                    app: ProviderStandIn.facebookApp, subject: "1001", claims: ["name": "Kari Nordmann"]))
            graph.answer("/facebook/oauth/access_token", ["access_token": "kari", "token_type": "bearer"])
            let token = try await merchantsToken(world)
            let everywhere: JSON = ["signs_in_everywhere": true]
            expectProblem(
                try await make(world, Self.facebook, everywhere, by: token), 403, member: "signs_in_everywhere")
            let made = try await make(world, Self.facebook, by: token)
            #expect(made.status == 201 && made.json["signs_in_everywhere"] == false, "\(made)")
            let issuer = try made.require("id")

            var owner = Browser(world.server)
            #expect(try await signIn(&owner, world, at: issuer).status == 303)
            let code = try await owner.open(world.authorizeAddress()).requireRedirected("code")
            let userID = try await world.redeemAuthorization(code).require("user_id")
            try await world.introduce(userID, to: world.rival)
            let rival = world.authorizeAddress(for: world.rivalBackend)
            func isConfined(_ browser: inout Browser) async throws {
                let asked = try await browser.open(rival)
                #expect(asked.status == 200 && asked.words.contains("Sign in"), "\(asked)")
                let account = try await browser.open("/account")
                #expect(account.header("location") == "/login?continue=%2Faccount", "\(account)")
            }
            try await isConfined(&owner)

            let path = "/admin/v1/issuers/\(issuer)"
            let word: JSON = ["signs_in_everywhere": true, "client_id": .string(ProviderStandIn.facebookApp)]
            let refused = try await world.server.send("PATCH", path, json: word, bearer: token)
            expectProblem(refused, 403, member: "signs_in_everywhere")
            let changed = try await world.change("issuers", issuer, word)
            #expect(changed.status == 200 && changed.json["signs_in_everywhere"] == true, "\(changed)")
            // A session stays what it was; the next is good everywhere.
            try await isConfined(&owner)
            var later = Browser(world.server)
            #expect(try await signIn(&later, world, at: issuer).status == 303)
            #expect(try await later.open(rival).redirected("code") != nil)
            #expect(try await later.open("/account").status == 200)
        }
        graph.stop()
    }

    @Test(
        "signs_in_everywhere is by default true for a provider the platform adds, false for a merchant's",
        arguments: Backend.available)
    func whoseButton(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantsToken(world)
            let providers: [JSON] = [
                ["provider": "google", "client_id": "us", "client_secret": "s"],
                ["provider": "apple", "client_id": "us", "client_secret": "s"],
                ["provider": "facebook", "client_id": "1", "app_secret": "s"],
            ]
            let cases: [(String, JSON, Bool)] = [
                (token, [:], false), (token, ["signs_in_everywhere": false], false), (world.admin, [:], true),
                (world.admin, ["signs_in_everywhere": false], false),
            ]
            for provider in providers {
                for (who, more, isGood) in cases {
                    let made = try await make(world, provider, more, by: who)
                    #expect(made.status == 201 && made.json["signs_in_everywhere"] == .bool(isGood), "\(made)")
                    let path = "/admin/v1/issuers/\(try made.require("id"))"
                    let shown = try await world.server.get(path, bearer: world.admin)
                    #expect(shown.json["signs_in_everywhere"] == .bool(isGood), "\(shown)")
                    #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
                }
            }
        }
    }

    @Test(
        "A button that the platform adds gives a provider signs_in_everywhere, and a merchant's does not",
        arguments: Backend.available, [true, false])
    func laterButton(backend: Backend, byPlatform: Bool) async throws {
        try await World.with(backend) { world in
            let token = try await merchantsToken(world)
            let made = try await make(world, ["provider": "google", "audiences": ["us"]], by: token)
            #expect(made.status == 201 && made.json["signs_in_everywhere"] == false, "\(made)")
            let path = "/admin/v1/issuers/\(try made.require("id"))"
            let changed = try await world.server.send(
                "PATCH", path, json: ["client_id": "us", "client_secret": "s"],
                bearer: byPlatform ? world.admin : token)
            #expect(changed.status == 200, "\(changed)")
            #expect(changed.json["signs_in_everywhere"] == .bool(byPlatform), "\(changed)")
            // Other changes leave it alone.
            let other = try await world.server.send("PATCH", path, json: ["create_users": true], bearer: world.admin)
            #expect(other.json["signs_in_everywhere"] == .bool(byPlatform), "\(other)")
        }
    }

    @Test("Only a provider with a sign-in button can have signs_in_everywhere", arguments: Backend.available)
    func faults(backend: Backend) async throws {
        try await World.with(backend) { world in
            let everywhere: JSON = ["signs_in_everywhere": true]
            let own: JSON = ["issuer": "https://op.example", "discovery_url": "https://op.example/d"]
            let signIn: JSON = ["client_id": "us", "client_secret": "s", "sign_in_name": "OP"]
            let google: JSON = ["provider": "google", "audiences": ["us"]]
            let sentTo = JSON.object((own.members ?? []) + (signIn.members ?? []))
            for json in [own, sentTo, google] {
                expectProblem(
                    try await make(world, json, everywhere, by: world.admin), 400, member: "signs_in_everywhere")
            }
            expectProblem(
                try await make(world, google, ["client_id": "us", "signs_in_everywhere": "yes"], by: world.admin), 400,
                member: "signs_in_everywhere")
            let plain = try await make(world, own, signIn, by: world.admin)
            #expect(plain.status == 201 && plain.json["signs_in_everywhere"] == nil, "\(plain)")

            let made = try await make(world, google, ["client_id": "us"], by: world.admin)
            #expect(made.json["signs_in_everywhere"] == true, "\(made)")
            let ended: JSON = ["signs_in_everywhere": true, "client_id": .null]
            for json in [everywhere, ended] {
                expectProblem(
                    try await world.change("issuers", try made.require("id"), json), 400,
                    member: "signs_in_everywhere")
            }
        }
    }

    @Test(
        "To give signs_in_everywhere to a provider with a merchant's app, the platform must name its own app",
        arguments: Backend.available)
    func anotherApp(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantsToken(world)
            let google: JSON = ["provider": "google", "client_id": "platforms", "client_secret": "s"]
            let made = try await make(world, google, ["signs_in_everywhere": false], by: world.admin)
            let id = try made.require("id")
            let replaced = try await world.server.send(
                "PATCH", "/admin/v1/issuers/\(id)", json: ["client_id": "theirs", "client_secret": "t"], bearer: token)
            #expect(replaced.status == 200 && replaced.json["signs_in_everywhere"] == false, "\(replaced)")
            expectProblem(
                try await world.change("issuers", id, ["signs_in_everywhere": true]), 400,
                member: "signs_in_everywhere")
            let kept = try await world.server.get("/admin/v1/issuers/\(id)", bearer: world.admin)
            #expect(kept.json["signs_in_everywhere"] == false, "\(kept)")
            let named: JSON = ["signs_in_everywhere": true, "client_id": "platforms", "client_secret": "s"]
            let said = try await world.change("issuers", id, named)
            #expect(said.status == 200 && said.json["signs_in_everywhere"] == true, "\(said)")
            #expect(said.json["client_id"] == "platforms", "\(said)")
        }
    }

    @Test(
        "A merchant cannot change the app of a provider with signs_in_everywhere, nor let it create users",
        arguments: Backend.available)
    func strangers(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantsToken(world)
            let google: JSON = ["provider": "google", "client_id": "us", "client_secret": "s", "create_users": false]
            let path = "/admin/v1/issuers/\(try await make(world, google, by: world.admin).require("id"))"
            func change(_ json: JSON) async throws -> Answer {
                try await world.server.send("PATCH", path, json: json, bearer: token)
            }
            expectProblem(try await change(["create_users": true]), 403, member: "client_id")
            #expect(try await change(["nonce": "required"]).status == 200)
            for json: JSON in [["client_secret": "t"], ["scope": "openid"]] {
                expectProblem(try await change(json), 403, member: "client_id")
            }
            let word: JSON = ["signs_in_everywhere": false]
            #expect(try await world.server.send("PATCH", path, json: word, bearer: world.admin).status == 200)
            #expect(try await change(["create_users": true]).status == 200)
        }
    }

    @Test(
        "A provider that a merchant added stays confined when the platform changes its app but not signs_in_everywhere",
        arguments: Backend.available)
    func platformsApp(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantsToken(world)
            let google: JSON = ["provider": "google", "client_id": "theirs", "client_secret": "t"]
            let id = try await make(world, google, by: token).require("id")
            let same = try await world.change("issuers", id, ["client_id": "theirs", "client_secret": "u"])
            #expect(same.status == 200 && same.json["signs_in_everywhere"] == false, "\(same)")
            let refused = try await world.change(
                "issuers", id, ["client_id": "a", "client_secret": "s", "signs_in_everywhere": false])
            #expect(refused.status == 200 && refused.json["signs_in_everywhere"] == false, "\(refused)")
            let other = try await world.change("issuers", id, ["client_id": "another", "client_secret": "s"])
            #expect(other.status == 200 && other.json["signs_in_everywhere"] == false, "\(other)")
            let replaced = try await world.change(
                "issuers", id, ["client_id": "platforms", "client_secret": "s", "signs_in_everywhere": true])
            #expect(replaced.status == 200 && replaced.json["signs_in_everywhere"] == true, "\(replaced)")
        }
    }

    @Test(
        "Once the platform confines a provider, sessions by it are good at the provider's merchant alone",
        arguments: Backend.available)
    func confined(backend: Backend) async throws {
        let graph = try ProviderStandIn()
        let settings = graph.settings.merging(IdentityProviderStory.settings) { $1 }
        try await World.with(backend, settings: settings) { world in
            graph.give(
                facebook: "kari",
                ProviderStandIn.Token(
                    app: ProviderStandIn.facebookApp, subject: "1001", claims: ["name": "Kari Nordmann"]))
            graph.answer("/facebook/oauth/access_token", ["access_token": "kari", "token_type": "bearer"])
            let issuer = try await make(world, Self.facebook, by: world.admin).require("id")
            var (browser, other) = (Browser(world.server), Browser(world.server))
            #expect(try await signIn(&browser, world, at: issuer).status == 303)
            try await other.signIn()
            #expect(try await browser.open("/account").status == 200)

            let changed = try await world.change("issuers", issuer, ["signs_in_everywhere": false])
            #expect(changed.status == 200 && changed.json["signs_in_everywhere"] == false, "\(changed)")
            let account = try await browser.open("/account")
            #expect(account.header("location") == "/login?continue=%2Faccount", "\(account)")
            let rival = try await browser.open(world.authorizeAddress(for: world.rivalBackend))
            #expect(rival.status == 200 && rival.words.contains("Sign in"), "\(rival)")
            #expect(try await browser.open(world.authorizeAddress()).redirected("code") != nil)
            #expect(try await other.open("/account").status == 200)
        }
        graph.stop()
    }

    @Test(
        "A merchant that removes the platform's button cannot set its own app secret at that provider",
        arguments: Backend.available)
    func secretOfAnother(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantsToken(world)
            let made = try await make(world, Self.facebook, by: world.admin)
            #expect(made.json["signs_in_everywhere"] == true, "\(made)")
            let path = "/admin/v1/issuers/\(try made.require("id"))"
            func change(_ json: JSON, by token: String) async throws -> Answer {
                try await world.server.send("PATCH", path, json: json, bearer: token)
            }
            let theirs: JSON = ["app_secret": "theirs"]
            let both: JSON = ["client_id": .null, "app_secret": "theirs"]
            for json in [theirs, both] { expectProblem(try await change(json, by: token), 403, member: "client_id") }
            let ended = try await change(["client_id": .null], by: token)
            #expect(ended.status == 200 && ended.json["client_id"] == nil, "\(ended)")
            #expect(ended.json["signs_in_everywhere"] == true, "\(ended)")
            expectProblem(try await change(theirs, by: token), 403, member: "client_id")
            #expect(try await change(["signs_in_everywhere": false], by: world.admin).status == 200)
            #expect(try await change(theirs, by: token).status == 200)
        }
    }

    @Test(
        "A merchant can delete a provider only if the provider's sign-ins are good at that merchant alone",
        arguments: Backend.available)
    func deletion(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantsToken(world)
            let google: JSON = ["provider": "google", "client_id": "us", "client_secret": "s"]
            func delete(_ id: String, by token: String) async throws -> Answer {
                try await world.server.send("DELETE", "/admin/v1/issuers/\(id)", bearer: token)
            }
            let made = try await make(world, google, by: world.admin)
            #expect(made.json["signs_in_everywhere"] == true, "\(made)")
            let id = try made.require("id")
            try await world.link(id, "kari")
            func change(_ json: JSON) async throws -> Answer {
                try await world.server.send("PATCH", "/admin/v1/issuers/\(id)", json: json, bearer: token)
            }
            func expectKept() async throws {
                expectProblem(try await delete(id, by: token), 403)
                // Confined to the merchant, it could be deleted.
                let word: JSON = ["signs_in_everywhere": false]
                expectProblem(try await change(word), 403, member: "signs_in_everywhere")
                expectProblem(try await delete(id, by: token), 403)
            }
            try await expectKept()
            let ended = try await change(["client_id": .null])
            #expect(ended.status == 200 && ended.json["signs_in_everywhere"] == true, "\(ended)")
            try await expectKept()
            #expect(try await world.count("issuer_subjects") == 1)
            #expect(try await delete(id, by: world.admin).status == 204)
            let confined: [(String, JSON)] = [(token, .object([])), (world.admin, ["signs_in_everywhere": false])]
            for (who, more) in confined {
                let other = try await make(world, google, more, by: who)
                #expect(other.json["signs_in_everywhere"] == false, "\(other)")
                #expect(try await delete(try other.require("id"), by: token).status == 204)
            }
        }
    }
}
