import Authentication
import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Request objects that are sent again")
struct RequestReplayTests {
    @Test(
        "A request object with a jti is accepted once, and signing in by it does not count as a second time",
        arguments: Backend.available)
    func once(backend: Backend) async throws {
        try await World.with(backend) { world in
            var signer = try await RequestSigner(world)
            let object = signer.object(["jti": "first"])
            let opened = try await signer.party.browser.open(signer.party.address(["request": object]))
            let delivery = try await signer.party.finish(
                try await signer.party.browser.open(try #require(opened.header("location"))))
            let tokens = try await signer.party.redeem(try delivery.require("code"))
            _ = try await signer.party.verified(try tokens.require("id_token"), nonce: "signed nonce")

            let replay = try await world.server.get(signer.party.address(["request": object]))
            #expect(replay.redirected("error") == "invalid_request_object")
            #expect(replay.redirected("error_description")?.contains("jti") == true)
            #expect(replay.redirected("state") == "some state")
            #expect(try await signer.refusal(signer.object(["jti": "second"])) == nil)
        }
    }

    @Test("Of concurrent uses of one request object, one is accepted", arguments: Backend.available)
    func race(backend: Backend) async throws {
        try await World.with(backend) { world in
            let signer = try await RequestSigner(world)
            let object = signer.object(["jti": "raced"])
            let refusals = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<6 { group.addTask { try await signer.refusal(object) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(refusals.filter { $0 == nil }.count == 1)
            #expect(refusals.filter { $0 == "invalid_request_object" }.count == 5)
        }
    }

    @Test("An invalid request object spends no jti, nor does another client's", arguments: Backend.available)
    func notSpent(backend: Backend) async throws {
        try await World.with(backend) { world in
            let signer = try await RequestSigner(world)
            let other = try await RequestSigner(world)
            #expect(try await signer.refusal(signer.object(["jti": "same", "aud": "elsewhere"])) != nil)
            #expect(try await signer.refusal(signer.object(["jti": "same", "state": .array([])])) != nil)
            #expect(try await other.refusal(other.object(["jti": "same"])) == nil)
            #expect(try await signer.refusal(signer.object(["jti": "same"])) == nil)
            #expect(try await signer.refusal(signer.object(["jti": "same"])) == "invalid_request_object")
        }
    }

    @Test(
        "A request object that the throttle refuses is not spent, and no record of it is kept",
        arguments: Backend.available)
    func throttled(backend: Backend) async throws {
        try await World.with(backend) { world in
            let signer = try await RequestSigner(world)
            let now = world.server.clock.now
            try await world.server.database.write { db in
                for _ in 1...1000 { _ = try InteractionThrottle.charge(from: "127.0.0.1", at: now, in: db) }
            }
            func remembered() async throws -> Int {
                try await world.server.database.read { try $0.rows("SELECT fingerprint FROM used_assertions").count }
            }
            let objects = ["one", "two", "three"].map { signer.object(["jti": .string($0)]) }
            for object in objects {
                let slowed = try await world.server.get(signer.party.address(["request": object]))
                #expect(slowed.status == 429 && slowed.header("retry-after") == "1", "\(slowed)")
            }
            #expect(try await remembered() == 0)
            world.server.clock.advance(by: .seconds(1))
            let opened = try await world.server.get(signer.party.address(["request": objects[0]]))
            #expect(opened.status == 303 && opened.redirected("error") == nil, "\(opened)")
            #expect(try await remembered() == 1)
        }
    }

    @Test("A jti needs an expiry within a day, and is remembered until the request object has expired")
    func bounded() async throws {
        try await World.with(.sqlite) { world in
            let signer = try await RequestSigner(world)
            let now = world.server.clock.now.seconds
            let bad: [KeyValuePairs<String, JSON>] = [
                ["jti": "a", "exp": .null], ["jti": "b", "exp": .integer(now + 86401)], ["jti": ""], ["jti": 7],
            ]
            for changes in bad {
                #expect(try await signer.refusal(signer.object(changes)) == "invalid_request_object", "\(changes)")
            }
            let object = signer.object(["jti": "last", "exp": .integer(now + 86400)])
            #expect(try await signer.refusal(object) == nil)
            world.server.clock.advance(by: .hours(25))
            _ = await Retention(database: world.server.database).sweep(at: world.server.clock.now)
            #expect(try await signer.refusal(object) == "invalid_request_object")
        }
    }

    @Test("A request object without a jti is accepted again until it expires")
    func withoutIdentifier() async throws {
        try await World.with(.sqlite) { world in
            let signer = try await RequestSigner(world)
            let object = signer.object()
            #expect(try await signer.refusal(object) == nil)
            #expect(try await signer.refusal(object) == nil)
            world.server.clock.advance(by: .seconds(61))
            #expect(try await signer.refusal(object) == "invalid_request_object")
        }
    }
}
