import JSON
import TestSupport
import Testing

@Suite("Only the platform makes a provider's sign-ins good at every merchant")
struct ProviderEverywhereTests {
    private static let facebook: JSON = [
        "provider": "facebook", "create_users": true, "audiences": [.string(ProviderStandIn.facebookApp)],
        "client_id": .string(ProviderStandIn.facebookApp), "app_secret": .string(ProviderStandIn.facebookSecret),
    ]

    /// Registers an issuer of Loom with `members` and `more`.
    private func make(_ world: World, _ members: JSON, _ more: JSON = [:], by token: String) async throws -> Answer {
        let all = (members.members ?? []) + (more.members ?? [])
        return try await World.make(
            world.server, token, "issuers", .object([.init("merchant_id", .string(world.merchant))] + all))
    }

    private func merchantsToken(_ world: World) async throws -> String {
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
        "the owner of a merchant's own Facebook app signs in as anybody who uses its button, at every merchant",
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
            let person = try await world.redeemAuthorization(code).require("user_id")
            try await world.introduce(person, to: world.rival)
            let rival = world.authorizeAddress(for: world.rivalBackend)
            func isConfined(_ browser: inout Browser) async throws {
                let asked = try await browser.open(rival)
                #expect(asked.status == 200 && asked.words.contains("Sign in"), "\(asked)")
                let account = try await browser.open("/account")
                #expect(account.header("location") == "/login?continue=%2Faccount", "\(account)")
            }
            try await isConfined(&owner)

            let path = "/admin/v1/issuers/\(issuer)"
            let refused = try await world.server.send("PATCH", path, json: everywhere, bearer: token)
            expectProblem(refused, 403, member: "signs_in_everywhere")
            let changed = try await world.change("issuers", issuer, everywhere)
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

    @Test("a merchant's own button of a provider is good everywhere", arguments: Backend.available)
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
        "a button that a merchant adds to a provider is good everywhere, or the platform's is not",
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
            // What else changes leaves it.
            let other = try await world.server.send("PATCH", path, json: ["create_users": true], bearer: world.admin)
            #expect(other.json["signs_in_everywhere"] == .bool(byPlatform), "\(other)")
        }
    }

    @Test(
        "what is good everywhere is taken back, or said of an issuer that nobody is sent to, or of no provider",
        arguments: Backend.available)
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
            let id = try made.require("id")
            expectProblem(
                try await world.change("issuers", id, ["signs_in_everywhere": false]), 400,
                member: "signs_in_everywhere")
            #expect(try await world.change("issuers", id, everywhere).status == 200)
        }
    }
}
