import Foundation
import JSON
import TestSupport
import Testing

@Suite("The pages of administration's lists")
struct ListPageTests {
    private static let kinds = ["merchants", "clients", "users", "issuers", "webhooks", "initial-access-tokens"]

    @Test("A limit that is no whole number from 1 to 100 is refused and named", arguments: Backend.available)
    func limits(backend: Backend) async throws {
        try await World.with(backend) { world in
            for kind in Self.kinds + ["clients/\(world.backend.id)/secrets"] {
                for limit in [
                    "-5", "0", "abc", "2.5", "101", "5000", "99999999999999999999", "%2B5", "+5", "0x10", "1e1", "null",
                ] {
                    let answer = try await world.server.get("/admin/v1/\(kind)?limit=\(limit)", bearer: world.admin)
                    expectProblem(answer, 400)
                    #expect(answer.json["parameter"]?.string == "limit", "\(kind) \(limit): \(answer)")
                }
                for limit in ["1", "100"] {
                    let answer = try await world.server.get("/admin/v1/\(kind)?limit=\(limit)", bearer: world.admin)
                    #expect(answer.status == 200, "\(kind) \(limit): \(answer)")
                }
            }
        }
    }

    @Test("A cursor that is damaged, null or another list's is refused and named", arguments: Backend.available)
    func cursors(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.newcomer("grace@example.com")
            func get(_ path: String) async throws -> Answer {
                try await world.server.get("/admin/v1/\(path)", bearer: world.admin)
            }
            func expectRefused(_ path: String) async throws {
                let answer = try await get(path)
                expectProblem(answer, 400)
                #expect(answer.json["parameter"]?.string == "cursor", "\(path): \(answer)")
            }
            var cursors: [String: String] = [:]
            for kind in ["merchants", "clients", "users"] {
                let cursor = try await get("\(kind)?limit=1").require("next")
                cursors[kind] = cursor
                #expect(try await get("\(kind)?limit=1&cursor=\(cursor)").status == 200)
                for place in cursor.indices {
                    let letter = cursor[place] == "A" ? "B" : "A"
                    let changed = cursor.replacingCharacters(in: place...place, with: letter)
                    try await expectRefused("\(kind)?cursor=\(changed)")
                }
                for other in [
                    String(cursor.dropLast()), String(cursor.dropFirst()), "\(cursor)A", "\(cursor)%3D", "null", "0",
                    "A", "%7B%7D", world.user, world.merchant, world.backend.id,
                ] {
                    try await expectRefused("\(kind)?cursor=\(other)")
                }
            }
            for kind in Self.kinds {
                for (other, cursor) in cursors where other != kind {
                    try await expectRefused("\(kind)?cursor=\(cursor)")
                }
            }
        }
    }

    @Test("A cursor is good for the list with the filter that it came from", arguments: Backend.available)
    func filters(backend: Backend) async throws {
        try await World.with(backend) { world in
            func get(_ query: String) async throws -> Answer {
                try await world.server.get("/admin/v1/clients?limit=1&\(query)", bearer: world.admin)
            }
            let own = try await get("merchant_id=\(world.merchant)").require("next")
            let all = try await get("").require("next")
            #expect(try await get("cursor=\(own)&merchant_id=\(world.merchant)").status == 200)
            #expect(try await get("cursor=\(all)").status == 200)
            expectProblem(try await get("cursor=\(own)"), 400)
            expectProblem(try await get("cursor=\(own)&merchant_id=\(world.rival)"), 400)
            expectProblem(try await get("cursor=\(all)&merchant_id=\(world.merchant)"), 400)
        }
    }

    @Test(
        "A client's secrets are paged, and the cursor goes on after a secret that was ended",
        arguments: Backend.available)
    func secrets(backend: Backend) async throws {
        try await World.with(backend) { world in
            let path = "/admin/v1/clients/\(world.backend.id)/secrets"
            world.server.clock.advance(by: .seconds(1))
            let second = try await world.server.send("POST", path, json: [:], bearer: world.admin).require("id")
            let page = try await world.server.get("\(path)?limit=1", bearer: world.admin)
            let first = try #require(page.json["items"]?.array?.first?["id"]?.string)
            let cursor = try page.require("next")
            for isEnded in [false, true] {
                if isEnded {
                    let ended = try await world.server.send("DELETE", "\(path)/\(first)", bearer: world.admin)
                    #expect(ended.status == 204)
                }
                let rest = try await world.server.get("\(path)?limit=1&cursor=\(cursor)", bearer: world.admin)
                #expect(rest.json["items"]?.array?.map { $0["id"]?.string } == [second], "\(rest)")
                #expect(rest.json["next"] == .null)
            }
            let others = "/admin/v1/clients/\(world.rivalBackend.id)/secrets"
            expectProblem(try await world.server.get("\(others)?cursor=\(cursor)", bearer: world.admin), 400)
        }
    }
}
