import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Tabs of a browser app may refresh with the same token within a leeway")
struct RefreshLeewayTests {
    @Test(
        "Within the leeway a second tab gets the first tab's new refresh token, and both keep live tokens",
        arguments: Backend.available)
    func secondTab(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await world.browserApp()
            let shared = try await world.signIn(with: app).require("refresh_token")
            let first = try await world.refresh(shared, as: app)
            // The first tab already uses its token.
            #expect(try await world.isLive(try first.require("access_token")))
            world.server.clock.advance(by: .seconds(10))
            let second = try await world.refresh(shared, as: app)
            #expect(try second.require("refresh_token") == first.require("refresh_token"))
            #expect(try second.require("access_token") != first.require("access_token"))
            for tab in [first, second] { #expect(try await world.isLive(try tab.require("access_token"))) }
            world.server.clock.advance(by: .hours(1))
            #expect(try await world.refresh(try first.require("refresh_token"), as: app).status == 200)
        }
    }

    @Test("A rotated refresh token that is used after the leeway ends its token family", arguments: Backend.available)
    func after(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await world.browserApp()
            let shared = try await world.signIn(with: app).require("refresh_token")
            let first = try await world.refresh(shared, as: app)
            #expect(try await world.isLive(try first.require("access_token")))
            let second = try await world.refresh(shared, as: app)
            world.server.clock.advance(by: .seconds(10) + .milliseconds(1))
            #expect(try await world.refresh(shared, as: app).error == "invalid_grant")
            #expect(world.server.log.says("reason=refresh_token_replayed"))
            for tab in [first, second] {
                #expect(try await !world.isLive(try tab.require("access_token")))
                #expect(try await world.refresh(try tab.require("refresh_token"), as: app).error == "invalid_grant")
            }
        }
    }

    @Test(
        "Of two parties who got one successor in the leeway, the second to use it later ends the token family",
        arguments: Backend.available)
    func thief(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await world.browserApp()
            let stolen = try await world.signIn(with: app).require("refresh_token")
            let owner = try await world.refresh(stolen, as: app)
            let thief = try await world.refresh(stolen, as: app)
            world.server.clock.advance(by: .hours(1))
            let next = try await world.refresh(try thief.require("refresh_token"), as: app)
            #expect(try await world.isLive(try next.require("access_token")))
            world.server.clock.advance(by: .minutes(1))
            #expect(try await world.refresh(try owner.require("refresh_token"), as: app).error == "invalid_grant")
            #expect(try await !world.isLive(try next.require("access_token")))
        }
    }

    @Test(
        "A tab that refreshes within the leeway gets the newest refresh token, however often others rotated it",
        arguments: Backend.available)
    func moved(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await world.browserApp()
            let shared = try await world.signIn(with: app).require("refresh_token")
            var newest = try await world.refresh(shared, as: app)
            for _ in 1...3 {
                world.server.clock.advance(by: .seconds(3))
                newest = try await world.refresh(try newest.require("refresh_token"), as: app)
            }
            let late = try await world.refresh(shared, as: app)
            #expect(try late.require("refresh_token") == newest.require("refresh_token"))
            #expect(try await world.isLive(try late.require("access_token")))
            world.server.clock.advance(by: .hours(1))
            #expect(try await world.refresh(try late.require("refresh_token"), as: app).status == 200)
        }
    }

    @Test("Tabs that refresh together at every rotation stay signed in", arguments: Backend.available)
    func eachTime(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await world.browserApp()
            var shared = try await world.signIn(with: app).require("refresh_token")
            for round in 1...5 {
                world.server.clock.advance(by: .hours(1))
                let tabs = [try await world.refresh(shared, as: app), try await world.refresh(shared, as: app)]
                #expect(tabs.allSatisfy { $0.status == 200 }, "\(round)")
                shared = try tabs[1].require("refresh_token")
            }
        }
    }

    @Test(
        "Concurrent refreshes within the leeway that succeed get one refresh token and live access tokens",
        arguments: Backend.available)
    func atOnce(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await world.browserApp()
            let shared = try await world.signIn(with: app).require("refresh_token")
            let answers = try await race(16) { try await world.refresh(shared, as: app) }
            // A request that lost the row too often is told to try again.
            #expect(answers.allSatisfy { $0.status == 200 || $0.status == 503 })
            let tabs = answers.filter { $0.status == 200 }
            #expect(!tabs.isEmpty)
            #expect(Set(try tabs.map { try $0.require("refresh_token") }).count == 1)
            for tab in tabs { #expect(try await world.isLive(try tab.require("access_token"))) }
        }
    }

    @Test(
        "The sealed successor of a refresh token that is kept for the leeway is erased by the next rotation",
        arguments: Backend.available)
    func erased(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await world.browserApp()
            let shared = try await world.signIn(with: app).require("refresh_token")
            let next = try await world.refresh(shared, as: app)
            #expect(try await world.isLive(try next.require("access_token")))
            #expect(try await sealed(world) == 1)
            world.server.clock.advance(by: .seconds(11))
            _ = try await world.refresh(try next.require("refresh_token"), as: app)
            #expect(try await sealed(world) == 1, "its own")
        }
    }

    @Test(
        "Only a public web client whose redirect URIs are all https and not local may have a refresh_leeway",
        arguments: Backend.available)
    func kinds(backend: Backend) async throws {
        try await World.with(backend) { world in
            let https = "https://loom.example/in"
            let none: JSON = "none"
            let others: [KeyValuePairs<String, JSON>] = [
                ["token_endpoint_auth_method": none, "redirect_uris": [.string(https), "loom://in"]],
                ["token_endpoint_auth_method": none, "redirect_uris": [.string(https), "http://127.0.0.1/in"]],
                ["token_endpoint_auth_method": none, "redirect_uris": [.string(https), "https://localhost/in"]],
                ["token_endpoint_auth_method": none, "redirect_uris": ["https://app.localhost:8443/in"]],
                ["token_endpoint_auth_method": none, "redirect_uris": ["https://127.1/in"]],
                ["token_endpoint_auth_method": none, "redirect_uris": [.string(https)], "application_type": "native"],
                ["token_endpoint_auth_method": "client_secret_basic", "redirect_uris": [.string(https)]],
            ]
            for members in others {
                let made = try await world.make(members)
                #expect(made.json["refresh_leeway"] == 0, "\(members)")
                let id = try made.require("client_id")
                expectProblem(
                    try await world.change("clients", id, ["refresh_leeway": 1]), 400, member: "refresh_leeway")
                #expect(try await world.change("clients", id, ["refresh_leeway": 0]).status == 200)
            }
            let made = try await world.make(["token_endpoint_auth_method": none, "redirect_uris": [.string(https)]])
            #expect(made.json["refresh_leeway"] == 10)
            for leeway in [-1, 61, "10", true] as [JSON] {
                let answer = try await world.change("clients", made.require("client_id"), ["refresh_leeway": leeway])
                expectProblem(answer, 400, member: "refresh_leeway")
            }
        }
    }

    @Test(
        "A client has the refresh_leeway that an administrator set while its redirect URIs are all https",
        arguments: Backend.available)
    func chosen(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await world.browserApp(["refresh_leeway": 60])
            let shared = try await world.signIn(with: app).require("refresh_token")
            let first = try await world.refresh(shared, as: app)
            #expect(try await world.isLive(try first.require("access_token")))
            world.server.clock.advance(by: .seconds(60))
            #expect(try await world.refresh(shared, as: app).status == 200)

            let uris: JSON = ["https://loom.example/in", "loom://in"]
            let changed = try await world.change("clients", app.id, ["redirect_uris": uris])
            #expect(changed.json["refresh_leeway"] == 0)
            #expect(try await world.refresh(shared, as: app).error == "invalid_grant")
            let back = try await world.change("clients", app.id, ["redirect_uris": ["https://loom.example/in"]])
            #expect(back.json["refresh_leeway"] == 60)

            #expect(try await world.change("clients", app.id, ["refresh_leeway": 0]).json["refresh_leeway"] == 0)
            let another = try await world.signIn(with: app).require("refresh_token")
            let next = try await world.refresh(another, as: app)
            #expect(try await world.isLive(try next.require("access_token")))
            #expect(try await world.refresh(another, as: app).error == "invalid_grant")
        }
    }

    @Test(
        "A self-registered public web client has the default refresh_leeway, and cannot choose another",
        arguments: Backend.available)
    func registered(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register(["token_endpoint_auth_method": "none", "refresh_leeway": 60])
            #expect(made.answer.json["refresh_leeway"] == nil)
            #expect(try await shown(world, made.id) == 10)
            let native = try await world.register([
                "token_endpoint_auth_method": "none", "application_type": "native",
            ])
            #expect(try await shown(world, native.id) == 0)
        }
    }

    private func shown(_ world: World, _ id: String) async throws -> JSON? {
        try await world.server.get("/admin/v1/clients/\(id)", bearer: world.admin).json["refresh_leeway"]
    }

    private func sealed(_ world: World) async throws -> Int {
        try await world.server.database.read { db in
            try db.rows("SELECT fingerprint FROM refresh_tokens WHERE sealed_successor IS NOT NULL").count
        }
    }
}

extension World {
    fileprivate func make(_ changes: KeyValuePairs<String, JSON>) async throws -> Answer {
        let base: [JSON.Member] = [.init("merchant_id", .string(merchant)), .init("client_name", "Loom for browsers")]
        return try await Self.make(
            server, admin, "clients", .object(base + changes.map { JSON.Member($0.key, $0.value) }))
    }

    /// A public client whose codes go to web pages alone.
    fileprivate func browserApp(_ changes: KeyValuePairs<String, JSON> = [:]) async throws -> Actor {
        let base: [JSON.Member] = [
            .init("merchant_id", .string(merchant)), .init("client_name", "Loom for browsers"),
            .init("redirect_uris", ["https://loom.example/in"]), .init("token_endpoint_auth_method", "none"),
            .init("grant_types", ["password", "authorization_code", "refresh_token"]), .init("scope", "profile email"),
        ]
        return try await Self.client(
            server, admin, .object(base + changes.map { JSON.Member($0.key, $0.value) }))
    }
}
