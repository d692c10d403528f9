import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Administration reads a webhook's rules where it shows or changes them")
struct DittoReadingTests {
    /// Of some 60,000 bytes: five of them fill a page of the list.
    private static let permissions: JSON = {
        let long = String(repeating: "x", count: 470)
        let queries = JSON.array((1...40).map { .string("_id.owner == '\($0) \(long)'") })
        return [
            "read": [
                "everything": false, "queriesByCollection": ["cars": queries, "boats": queries, "trains": queries],
            ],
            "write": ["everything": false, "queriesByCollection": [:]],
        ]
    }()

    /// Makes the rules of a webhook unreadable.
    private func spoil(_ id: String, _ world: World) async throws {
        let isSpoiled = try await world.server.database.change("UPDATE webhooks SET document = '{}' WHERE id = \(id)")
        try #require(isSpoiled)
    }

    @Test("a webhook whose rules this version does not read cannot be deleted", arguments: Backend.available)
    func deleted(backend: Backend) async throws {
        try await World.with(backend) { world in
            let id = try await DittoStory(world).id
            let path = "/admin/v1/webhooks/\(id)"
            try await spoil(id, world)
            let shown = try await world.server.get(path, bearer: world.admin)
            #expect(shown.status == 500, "\(shown)")
            let gone = try await world.server.send("DELETE", path, bearer: world.admin)
            #expect(gone.status == 204, "\(gone)")
            expectProblem(try await world.server.get(path, bearer: world.admin), 404)
        }
    }

    @Test(
        "a list reads the rules of webhooks for which its page has no room, or its cursor leaves some out",
        arguments: Backend.available)
    func listed(backend: Backend) async throws {
        try await World.with(backend) { world in
            var made: Set<String> = []
            for number in 1...6 {
                let name = JSON.string("w\(number)")
                made.insert(try await DittoStory(world, ["name": name, "permissions": Self.permissions]).id)
            }
            func page(_ cursor: String? = nil) async throws -> Answer {
                let query = cursor.map { "?cursor=\($0)" } ?? ""
                return try await world.server.get("/admin/v1/webhooks\(query)", bearer: world.admin)
            }
            func ids(_ page: Answer) -> [String] {
                (page.json["items"]?.array ?? []).compactMap { $0["id"]?.string }
            }
            let first = try await page()
            let cursor = try first.require("next")
            let second = try await page(cursor)
            #expect(!ids(first).isEmpty && !ids(second).isEmpty && second.json["next"] == .null)
            #expect(ids(first).count + ids(second).count == 6 && Set(ids(first) + ids(second)) == made)

            try await spoil(try #require(ids(second).last), world)
            let again = try await page()
            #expect(again.status == 200 && ids(again) == ids(first), "\(again.status)")
            #expect(try again.require("next") == cursor)
            #expect(try await page(cursor).status == 500)
        }
    }

    @Test("a change of one webhook fails at the rules of another, or touches it", arguments: Backend.available)
    func changed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world)
            let other = try await DittoStory(world, ["name": "other"])
            try await spoil(other.id, world)
            world.server.clock.advance(by: .seconds(1))
            let changed = try await ditto.change(["disabled": true])
            #expect(changed.status == 200 && changed.json["disabled"] == true, "\(changed)")
            #expect(changed.json["permissions"] == DittoStory.permissions)
            let shown = try await world.server.get("/admin/v1/webhooks/\(ditto.id)", bearer: world.admin)
            #expect(shown.json == changed.json)
            let now = world.server.clock.now
            let untouched: [String] = try await world.server.database.rows(
                "SELECT id FROM webhooks WHERE document = '{}' AND disabled_at IS NULL AND updated_at < \(now)"
            ).map { try $0.get("id") }
            #expect(untouched == [other.id])
        }
    }
}
