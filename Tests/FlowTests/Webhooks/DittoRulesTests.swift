import Directory
import Foundation
import JSON
import Storage
import TestSupport
import Testing
import Values

@testable import Ditto

@Suite("The rules of Ditto's webhooks are read only when they are needed, and cached")
struct DittoRulesTests {
    private let document = JSON.members(["permissions": DittoStory.permissions]).text

    @Test("Requests to one merchant's webhooks remove no other merchant's webhook rules from the cache")
    func shares() throws {
        let parsed = ParsedRules()
        let (large, small) = (Merchant.ID("large"), Merchant.ID("small"))
        _ = try parsed.rules(of: document, for: "other", of: small)
        for round in 1...2 {
            for number in 1...200 {
                _ = try parsed.rules(of: document, for: DittoWebhook.ID("\(number)"), of: large)
                #expect(parsed.has("other"), "\(round) \(number)")
            }
        }
        // The least recently used were dropped.
        #expect(parsed.has("200") && parsed.has("74") && !parsed.has("73"))
    }

    @Test("The cache holds the rules of a merchant's hundred webhooks at once")
    func fits() throws {
        let parsed = ParsedRules()
        let ids = (1...100).map { DittoWebhook.ID("\($0)") }
        for id in ids { _ = try parsed.rules(of: document, for: id, of: Merchant.ID("a")) }
        #expect(ids.allSatisfy(parsed.has))
    }

    @Test("A webhook's rules are read anew once their stored document has changed")
    func changed() throws {
        let parsed = ParsedRules()
        let strict = JSON.members(["permissions": DittoStory.permissions, "refusal_status": 403]).text
        #expect(try parsed.rules(of: document, for: "a", of: Merchant.ID("m")).refusalStatus == 200)
        #expect(try parsed.rules(of: strict, for: "a", of: Merchant.ID("m")).refusalStatus == 403)
    }

    @Test("A webhook's rules are not read for a wrongly signed or malformed request", arguments: Backend.available)
    func unread(backend: Backend) async throws {
        try await World.with(backend) { world in
            let secret = Data((0..<128).map { UInt8($0) }).base64EncodedString()
            let ditto = try await DittoStory(world, ["secrets": [.string(secret)]])
            let open = try await DittoStory(world, ["name": "open"])
            _ = try await world.server.database.write { try $0.execute("UPDATE webhooks SET document = '{}'") }
            let zeros = String(repeating: "0", count: 64)
            let forged = try await ditto.ask(try await ditto.token(), signature: "t=1800000000,v1=\(zeros)")
            #expect(forged.status == 401, "\(forged)")
            #expect(try await open.send("not JSON").status == 400)
            // A valid request needs the rules.
            #expect(try await open.ask(try await open.token()).status == 500)
        }
    }

    /// Permissions of some 60,000 bytes: five fill a page of the list.
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

    @Test("A webhook whose rules cannot be read can be deleted", arguments: Backend.available)
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

    @Test("A list query for webhooks reads only the rules of the webhooks on its page", arguments: Backend.available)
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

    @Test("A change of one webhook neither reads nor touches another's rules", arguments: Backend.available)
    func changedWebhook(backend: Backend) async throws {
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
