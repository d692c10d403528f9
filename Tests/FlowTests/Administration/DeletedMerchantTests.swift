import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Nobody sees a merchant whose deletion has begun, though its rows go bit by bit")
struct DeletedMerchantTests {
    /// Begins to delete Loom. Its rows stay, unless the server's sweeper comes by.
    private func beginDeletion(_ world: World) async throws {
        let now = world.server.clock.now
        let isBegun = try await world.server.database.change(
            "UPDATE merchants SET deleted_at = \(now), disabled_at = \(now) WHERE id = \(world.merchant)")
        try #require(isBegun)
    }

    @Test("Ditto is answered at the webhook of a deleted merchant", arguments: Backend.available)
    func webhook(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world)
            #expect(try await ditto.send("not JSON").status == 400)
            try await beginDeletion(world)
            #expect(try await ditto.send("not JSON").status == 404)
        }
    }

    @Test(
        "the platform gives a deleted merchant an issuer, a webhook or an initial access token",
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

    @Test("the account page names the apps of a deleted merchant", arguments: Backend.available)
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

    @Test("the server of a deleted merchant hears that a user was deleted", arguments: Backend.available)
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
            // The second comes after all that the first brings.
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
