import Cryptography
import JSON
import Storage
import TestSupport
import Testing

@Suite("A call of administration with an Idempotency-Key is made once")
struct RepeatedCallTests {
    private static func create(
        _ name: String, key: String, in world: World, by token: String? = nil
    ) async throws -> Answer {
        try await world.server.send(
            "POST", "/admin/v1/clients",
            json: [
                "merchant_id": .string(world.merchant), "client_name": .string(name),
                "grant_types": ["client_credentials"],
            ], bearer: token ?? world.admin, headers: ["Idempotency-Key": key])
    }

    private static func count(_ name: String, in world: World) async throws -> Int {
        try await UserSearchTests.ids("clients?client_name=\(name)", in: world, named: "client_id").count
    }

    @Test(
        "A repeated call gets the same answer, secrets included, and the stored one holds none in clear",
        arguments: Backend.available)
    func same(backend: Backend) async throws {
        try await World.with(backend) { world in
            let first = try await Self.create("Once", key: "k", in: world)
            let again = try await Self.create("Once", key: "k", in: world)
            #expect(first.status == 201 && again.status == 201 && first.json == again.json)
            #expect(try await Self.count("Once", in: world) == 1)
            let secret = try first.require("client_secret")
            let stored = try await world.server.database.rows("SELECT sealed_answer FROM idempotent_answers").map {
                try $0.get("sealed_answer", as: String.self)
            }
            #expect(stored.count == 1 && !stored[0].contains(secret))
            expectProblem(try await Self.create("Twice", key: "k", in: world), 409)
            #expect(try await Self.count("Twice", in: world) == 0)
        }
    }

    @Test("An Idempotency-Key is free again after a day, and after a refusal", arguments: Backend.available)
    func free(backend: Backend) async throws {
        try await World.with(backend) { world in
            expectProblem(try await Self.create("", key: "k", in: world), 400)
            #expect(try await Self.create("First", key: "k", in: world).status == 201)
            world.server.clock.advance(by: .seconds(86401))
            let token = try await world.server.post(
                "/oauth/token", ["grant_type": "client_credentials", "scope": "admin"],
                basic: (world.server.adminID, world.server.adminSecret)
            ).require("access_token")
            #expect(try await Self.create("Second", key: "k", in: world, by: token).status == 201)
        }
    }

    @Test("Of concurrent calls with one key one makes the change", arguments: Backend.available)
    func concurrent(backend: Backend) async throws {
        try await World.with(backend) { world in
            let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                for _ in 0..<8 { group.addTask { try await Self.create("Race", key: "k", in: world) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(answers.map(\.status)).isSubset(of: [201, 409]))
            #expect(Set(answers.filter { $0.status == 201 }.map(\.json)).count == 1)
            #expect(try await Self.count("Race", in: world) == 1)
        }
    }

    @Test("A change of an outdated document is refused with 412, and changes nothing", arguments: Backend.available)
    func outdated(backend: Backend) async throws {
        try await World.with(backend) { world in
            let path = "/admin/v1/users/\(world.user)"
            let tag = try #require(try await world.server.get(path, bearer: world.admin).header("etag"))
            func change(_ name: String, _ match: String) async throws -> Answer {
                try await world.server.send(
                    "PATCH", path, json: ["name": .string(name)], bearer: world.admin, headers: ["If-Match": match])
            }
            #expect(try await change("Ada L.", tag).status == 200)
            expectProblem(try await change("Ada Byron", tag), 412)
            let now = try await world.server.get(path, bearer: world.admin)
            #expect(now.json["name"]?.string == "Ada L." && now.header("etag") != tag)
            #expect(try await change("Ada Byron", "*").status == 200)
        }
    }

    @Test(
        "The Idempotency-Key of a refused call is free again, though the call stored something",
        arguments: Backend.available)
    func freed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let path = "/admin/v1/users/\(world.user)"
            func order(_ headers: [String: String] = [:]) async throws -> Answer {
                try await world.server.send(
                    "POST", "\(path)/mails", json: ["kind": "reset"], bearer: world.admin, headers: headers)
            }
            for _ in 0..<5 { #expect(try await order().status == 202) }
            for _ in 0..<2 { expectProblem(try await order(["Idempotency-Key": "k"]), 429) }
            #expect(try await world.server.send("POST", "\(path)/unlock", bearer: world.admin).status == 200)
            #expect(try await order(["Idempotency-Key": "k"]).status == 202)
        }
    }

    @Test("What a call asked is stored under a key, not as a plain hash", arguments: Backend.available)
    func keyed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let path = "/admin/v1/users/\(world.user)/unlock"
            let answer = try await world.server.send(
                "POST", path, bearer: world.admin, headers: ["Idempotency-Key": "k"])
            #expect(answer.status == 200)
            let stored = try await world.server.database.rows("SELECT request FROM idempotent_answers").map {
                try $0.get("request", as: String.self)
            }
            let plain = Base64URL.encode(Digest.sha256(Array("POST \(path)\n".utf8)))
            #expect(stored.count == 1 && stored[0] != plain)
        }
    }
}
