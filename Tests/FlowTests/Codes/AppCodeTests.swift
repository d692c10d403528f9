import JSON
import TestSupport
import Testing

@Suite("A code for an app that has a secret, which is in each copy of it")
struct AppCodeTests {
    private static let address = "com.loom.news:/login"

    /// The app, and another client of Loom that its users sign in to.
    private func clients(_ world: World) async throws -> (app: World.Actor, other: World.Actor) {
        let app = try await world.spidBackend(["scope": "openid profile", "redirect_uris": [.string(Self.address)]])
        return (app, try await world.spidBackend(["scope": "openid profile email"]))
    }

    private func name(_ clients: [World.Actor], at receiver: World.Actor, _ world: World) async throws -> Answer {
        try await world.change(
            "clients", receiver.id, ["public_exchange_codes_from": .array(clients.map { .string($0.id) })])
    }

    @Test("any token of another app of its merchant buys one", arguments: Backend.available)
    func unnamed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (app, other) = try await clients(world)
            let tokens = try await world.signIn(scope: "openid profile email", with: other)
            let token = try tokens.require("access_token")
            let phones = try await world.signIn().require("access_token")
            for bearer in [token, phones] {
                #expect(try await world.exchange(bearer, for: world.backend).status == 200)
                try await expect(400, "invalid_request", try await world.exchange(bearer, for: app))
            }
            #expect(world.server.log.says("public_receiver"))

            #expect(try await name([other], at: app, world).status == 200)
            try await expect(400, "invalid_request", try await world.exchange(phones, for: app))
            let code = try await world.exchange(token, for: app).require("code")
            let redeemed = try await world.redeem(code, as: app, redirectURI: Self.address)
            #expect(redeemed.status == 200 && redeemed.json["scope"] == "openid profile", "\(redeemed)")
            #expect(redeemed.json["refresh_token"] != nil, "\(redeemed)")
            #expect(try await world.isLive(try redeemed.require("access_token")))
        }
    }

    @Test(
        "an app names no clients whose tokens buy codes for it, because it has a secret; or a backend does",
        arguments: Backend.available)
    func setting(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (app, other) = try await clients(world)
            expectProblem(try await name([app], at: other, world), 400, member: "public_exchange_codes_from")
            #expect(try await name([other], at: app, world).status == 200)
            let moved: JSON = ["redirect_uris": [.string(other.redirectURI)]]
            expectProblem(
                try await world.change("clients", app.id, moved), 400, member: "public_exchange_codes_from")
            #expect(try await name([], at: app, world).status == 200)
            #expect(try await world.change("clients", app.id, moved).status == 200)
        }
    }

    @Test(
        "a client that has become an app since redeems a code that was sold for a backend",
        arguments: Backend.available)
    func changed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (_, other) = try await clients(world)
            let server = try await world.spidBackend(["scope": "openid profile"])
            let token = try await world.signIn(with: other).require("access_token")
            var codes: [String] = []
            for _ in 1...3 { codes.append(try await world.exchange(token, for: server).require("code")) }
            func add(_ address: String) async throws {
                let addresses: JSON = ["redirect_uris": [.string(server.redirectURI), .string(address)]]
                try #require(try await world.change("clients", server.id, addresses).status == 200)
            }
            try await add("https://backend.example/another")
            #expect(try await world.redeem(codes[0], as: server).status == 200)
            try await add(Self.address)
            let refused = try await world.redeem(codes[1], as: server)
            #expect(refused.status == 400 && refused.error == "invalid_grant", "\(refused)")
            #expect(world.server.log.says("public_receiver"))
            // Nor where it names others than the one whose token bought the code.
            let stranger = try await world.spidBackend()
            #expect(try await name([stranger], at: server, world).status == 200)
            #expect(try await world.redeem(codes[2], as: server).error == "invalid_grant")
        }
    }
}
