import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("A merchant has a number, and is hidden once its deletion has begun") struct MerchantTests {
    @Test("Each new merchant has the next number, which never changes", arguments: Backend.available)
    func next(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            func number(_ id: String) async throws -> JSON? {
                try await world.server.get("/admin/v1/merchants/\(id)", bearer: world.admin).json["number"]
            }
            #expect(try await number(world.merchant) == 1)
            #expect(try await number(world.rival) == 2)
            let changed = try await world.change("merchants", world.merchant, ["name": "Other", "number": 9])
            expectProblem(changed, 400, member: "number")
            #expect(try await number(world.merchant) == 1)
        }
    }

    @Test(
        "A deleted merchant's number is given to a new merchant only if the platform asks for it",
        arguments: Backend.available)
    func gone(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let path = "/admin/v1/merchants/\(world.rival)"
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            let made = try await World.make(world.server, world.admin, "merchants", ["name": "Third"])
            #expect(made.json["number"] == 3)
            // The platform may ask for it.
            let wished = try await World.make(world.server, world.admin, "merchants", ["name": "Fourth", "number": 2])
            #expect(wished.json["number"] == 2, "\(wished)")
        }
    }

    @Test(
        "The platform can give a new merchant a number of its choice, unless another merchant has it",
        arguments: Backend.available)
    func given(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            func make(_ members: JSON) async throws -> Answer {
                try await World.make(world.server, world.admin, "merchants", members)
            }
            let kept = try await make(["name": "Kept", "number": 47001])
            #expect(kept.status == 201 && kept.json["number"] == 47001)
            #expect(try await make(["name": "Next"]).json["number"] == 47002)
            let wrong: [JSON] = [47001, 0, .integer(-1), 2_147_483_648, "7", true]
            for number in wrong {
                expectProblem(try await make(["name": "x", "number": number]), 400, member: "number")
            }
            #expect(try await make(["name": "Last", "number": 2_147_483_647]).status == 201)
            // No number follows it.
            expectProblem(try await make(["name": "x"]), 400, member: "number")
            #expect(try await make(["name": "x", "number": 5]).status == 201)
        }
    }

    @Test("Merchants created at the same time have different numbers", arguments: Backend.available)
    func together(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let numbers = try await withThrowingTaskGroup(of: Int64?.self) { group in
                for place in 0..<8 {
                    group.addTask {
                        try await World.make(world.server, world.admin, "merchants", ["name": .string("M\(place)")])
                            .json["number"]?.integer
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(numbers) == Set((3...10).map { Int64($0) }))
        }
    }

    /// Begins to delete Loom. Its rows stay until the server's sweeper runs.
    private func beginDeletion(_ world: World) async throws {
        let now = world.server.clock.now
        let isBegun = try await world.server.database.change(
            "UPDATE merchants SET deleted_at = \(now), disabled_at = \(now) WHERE id = \(world.merchant)")
        try #require(isBegun)
    }

    @Test("A deleted merchant's webhook for Ditto answers 404", arguments: Backend.available)
    func webhook(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world)
            #expect(try await ditto.send("not JSON").status == 400)
            try await beginDeletion(world)
            #expect(try await ditto.send("not JSON").status == 404)
        }
    }

    @Test(
        "A deleted merchant cannot get an issuer, a webhook or an initial access token",
        arguments: Backend.available, ["issuers", "webhooks", "initial-access-tokens"])
    func gifts(backend: Backend, kind: String) async throws {
        try await World.with(backend) { world in
            func give(to merchant: String) async throws -> Answer {
                let rest: [JSON.Member] =
                    switch kind {
                    case "issuers": [.init("provider", "google"), .init("audiences", ["us"])]
                    case "webhooks":
                        [.init("name", .string("of-\(merchant)")), .init("permissions", DittoStory.permissions)]
                    default: []
                    }
                let document = [JSON.Member("merchant_id", .string(merchant))] + rest
                return try await World.make(world.server, world.admin, kind, .object(document))
            }
            let given = try await give(to: world.rival)
            #expect(given.status == 201, "\(given)")
            try await beginDeletion(world)
            expectProblem(try await give(to: world.merchant), 400, member: "merchant_id")
        }
    }

    @Test("The account page does not list a deleted merchant's apps", arguments: Backend.available)
    func accountPage(backend: Backend) async throws {
        try await World.with(backend) { world in
            for client in [world.app, world.backend, world.rivalBackend] {
                #expect(try await world.signIn(with: client).status == 200)
            }
            var visitor = try await world.signedIn()
            func apps() async throws -> [String] {
                let page = try await visitor.browser.open("/account")
                #expect(page.status == 200)
                let words = page.words.replacing("&#39;", with: "'")
                return ["Loom for phones", "Loom's backend", "Rival's backend"].filter { words.contains($0) }
            }
            #expect(try await apps() == ["Loom for phones", "Loom's backend", "Rival's backend"])
            try await beginDeletion(world)
            #expect(try await apps() == ["Rival's backend"])
        }
    }

    @Test("A deleted merchant's clients are not told of deleted users", arguments: Backend.available)
    func callback(backend: Backend) async throws {
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let receiver = try CallbackReceiver()
            _ = try await world.told(at: receiver, "/loom")
            let rival = try await world.told(at: receiver, "/rival", of: world.rival)
            let eve = try await world.newcomer("eve@example.com")
            #expect(try await world.signIn(with: rival.actor, as: "eve@example.com").status == 200)
            try await world.change("users", world.user, ["nickname": "Ada"])
            let told = [try await receiver.next().path, try await receiver.next().path]
            #expect(told.sorted() == ["/loom", "/rival"])

            try await beginDeletion(world)
            // The second deletion's message comes after all messages of the first.
            for user in [world.user, eve] {
                let gone = try await world.server.send("DELETE", "/admin/v1/users/\(user)", bearer: world.admin)
                #expect(gone.status == 204)
                let message = try await rival.next()
                #expect(message.gist == "user: status = deleted" && message.entry["userId"]?.string == user)
                try await allAreSent(world)
            }
        }
    }

    /// Waits until no callback is left to send.
    private func allAreSent(_ world: World) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while try await world.waiting(.callback) > 0, ContinuousClock.now < deadline { await Task.yield() }
        #expect(try await world.waiting(.callback) == 0)
    }
}
