import JSON
import Storage
import TestSupport
import Testing

@Suite("A merchant has a number beside its id, for SPiD's API") struct MerchantNumberTests {
    @Test("each new merchant has the next number, which never changes", arguments: Backend.available)
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

    @Test("a merchant gets the number of one that is gone", arguments: Backend.available)
    func gone(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let path = "/admin/v1/merchants/\(world.rival)"
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            let made = try await World.make(world.server, world.admin, "merchants", ["name": "Third"])
            #expect(made.json["number"] == 3)
            // The platform may give it away, knowingly.
            let wished = try await World.make(world.server, world.admin, "merchants", ["name": "Fourth", "number": 2])
            #expect(wished.json["number"] == 2, "\(wished)")
        }
    }

    @Test("a merchant may keep the number that its clients know, unless another has it", arguments: Backend.available)
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
            // There is none after it.
            expectProblem(try await make(["name": "x"]), 400, member: "number")
            #expect(try await make(["name": "x", "number": 5]).status == 201)
        }
    }

    @Test("merchants made at the same time have different numbers", arguments: Backend.available)
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
}
