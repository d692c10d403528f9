import Foundation
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Ditto's webhooks are administered by their merchant and the platform")
struct DittoAdministrationTests {
    private static let secret = Data((0..<128).map { UInt8($0) }).base64EncodedString()

    @Test(
        "A webhook is created with defaults, shown, changed member by member, and deleted",
        arguments: Backend.available)
    func life(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await DittoStory.make(world)
            #expect(made.status == 201)
            let id = try made.require("id")
            let now = JSON.integer(world.server.clock.now.seconds)
            let expected: JSON = [
                "id": .string(id), "merchant_id": .string(world.merchant), "name": "loom-cars", "signed": false,
                "created_at": now, "updated_at": now, "disabled": false,
                "token_kinds": ["access_token", "jwt_access_token"], "clients": [], "audiences": [],
                "permissions": DittoStory.permissions, "expiration_seconds": 28800, "expiration": "token",
                "refusal_status": 200,
                "url": "http://spindle.test/webhooks/ditto/loom-cars",
            ]
            #expect(made.json == expected)
            let path = "/admin/v1/webhooks/\(id)"
            #expect(try await world.server.get(path, bearer: world.admin).json == expected)

            let settings: [JSON.Member] = [
                .init("provider", "my-auth"), .init("database_id", "db"), .init("token_kinds", ["access_token"]),
                .init("clients", [.string(world.app.id)]), .init("audiences", ["https://ditto.example"]),
                .init("scope", "profile email"), .init("expiration_seconds", 60), .init("refusal_status", 403),
                .init("client_info", ["a": [1, .null]]), .init("identity_service_metadata", ["b": "c"]),
            ]
            for setting in settings {
                let changed = try await world.change("webhooks", id, .object([setting]))
                #expect(changed.json[setting.name] == setting.value, "\(setting.name)")
            }
            let all = try await world.server.get(path, bearer: world.admin).json
            for setting in settings { #expect(all[setting.name] == setting.value) }
            for setting in settings {
                let reset = try await world.change("webhooks", id, .object([.init(setting.name, .null)]))
                #expect(reset.json[setting.name] == expected[setting.name], "\(setting.name)")
            }
            expectProblem(try await world.change("webhooks", id, ["permissions": .null]), 400, member: "permissions")
            let same: JSON = ["name": "loom-cars", "merchant_id": .string(world.merchant)]
            #expect(try await world.change("webhooks", id, same).json == expected)

            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            expectProblem(try await world.server.get(path, bearer: world.admin), 404)
            expectProblem(try await world.server.send("DELETE", path, bearer: world.admin), 404)
            expectProblem(try await world.change("webhooks", id, ["scope": "x"]), 404)
        }
    }

    @Test("The administration API lists webhooks page by page", arguments: Backend.available)
    func list(backend: Backend) async throws {
        try await World.with(backend) { world in
            for number in 1...3 { _ = try await DittoStory(world, ["name": .string("w\(number)")]) }
            let first = try await world.server.get("/admin/v1/webhooks?limit=2", bearer: world.admin)
            let cursor = try first.require("next")
            let second = try await world.server.get("/admin/v1/webhooks?limit=2&cursor=\(cursor)", bearer: world.admin)
            let items = [first, second].flatMap { $0.json["items"]?.array ?? [] }
            #expect(Set(items.compactMap { $0["name"]?.string }) == ["w1", "w2", "w3"])
            #expect(items.count == 3)
            #expect(second.json["next"] == .null)
        }
    }

    @Test("An invalid member of a webhook is refused, and the refusal names the member", arguments: Backend.available)
    func faults(backend: Backend) async throws {
        try await World.with(backend) { world in
            let wrong: [(String, [JSON])] = [
                ("name", [.null, "", ".", "..", "a b", "a/b", "é", .string(String(repeating: "a", count: 65)), 7]),
                ("merchant_id", [.null, "nobody", 7]), ("permissions", [.null]),
                ("provider", [7, "", "a\u{7}"]), ("database_id", [7, ""]),
                ("token_kinds", ["access_token", [], ["refresh_token"], ["access_token", 7], ["id_token", "x"]]),
                ("clients", ["x", [7], ["nobody"], [.string(world.rivalBackend.id)]]),
                ("audiences", ["x", [""], [7]]), ("scope", [7, "a\"b", ["profile"]]),
                ("expiration_seconds", [59, 2_592_001, "60", .number(60.5)]),
                ("refusal_status", [204, 500, "200", 400]),
                ("client_info", ["x", [1], ["a": .string(String(repeating: "x", count: 4096))]]),
                ("identity_service_metadata", [7, ["x"]]), ("disabled", ["yes"]),
                (
                    "secrets",
                    [
                        .string(Self.secret), [7], ["short"], ["not base64!"], [""],
                        [.string(Self.secret.replacing("+", with: "-"))], [.string(Self.secret + "=")],
                        [.string(Self.secret), .string(Self.secret), .string(Self.secret)],
                    ]
                ),
            ]
            for (member, values) in wrong {
                for value in values {
                    let answer = try await DittoStory.make(world, [member: value])
                    expectProblem(answer, 400, member: member)
                }
            }
            expectProblem(try await DittoStory.make(world, ["token_kinds": ["id_token"]]), 400, member: "clients")
            expectProblem(
                try await DittoStory.make(
                    world,
                    ["token_kinds": ["id_token"], "clients": [.string(world.app.id)], "scope": "profile"]),
                400, member: "scope")
            let ditto = try await DittoStory(world)
            expectProblem(try await DittoStory.make(world), 400, member: "name")
            for (member, value) in [("name", "other"), ("merchant_id", world.rival)] {
                let changed = try await ditto.change(.object([.init(member, .string(value))]))
                expectProblem(changed, 400, member: member)
            }
            expectProblem(try await ditto.change(["clients": [.string(world.rivalBackend.id)]]), 400, member: "clients")
            expectProblem(
                try await world.server.send(
                    "POST", "/admin/v1/webhooks", body: Array("{".utf8), bearer: world.admin,
                    headers: ["Content-Type": "application/json"]), 400)
        }
    }

    @Test(
        "A merchant manages only its own webhooks, and cannot enable or delete one the platform disabled",
        arguments: Backend.available)
    func merchants(backend: Backend) async throws {
        try await World.with(backend) { world in
            func administrator(of merchant: String) async throws -> String {
                let client = try await world.confidential(["scope": "admin:merchant"], of: merchant)
                return try await world.clientToken(client, scope: "admin:merchant")
            }
            let ours = try await administrator(of: world.merchant)
            let rival = try await administrator(of: world.rival)
            let made = try await DittoStory.make(world, ["merchant_id": .null], as: ours)
            #expect(made.json["merchant_id"]?.string == world.merchant)
            expectProblem(try await DittoStory.make(world, ["name": "x"], as: rival), 403, member: "merchant_id")
            let path = "/admin/v1/webhooks/\(try made.require("id"))"
            func patch(_ json: JSON, as token: String) async throws -> Answer {
                try await world.server.send("PATCH", path, json: json, bearer: token)
            }
            expectProblem(try await world.server.get(path, bearer: rival), 404)
            expectProblem(try await patch(["scope": "x"], as: rival), 404)
            expectProblem(try await world.server.send("DELETE", path, bearer: rival), 404)
            let list = try await world.server.get("/admin/v1/webhooks", bearer: rival)
            #expect(list.json["items"]?.array?.isEmpty == true)
            #expect(try await world.server.get("/admin/v1/webhooks", bearer: ours).body.contains("loom-cars"))

            #expect(try await patch(["expiration_seconds": 60], as: ours).status == 200)
            #expect(try await patch(["disabled": true], as: world.admin).status == 200)
            expectProblem(try await patch(["disabled": false], as: ours), 403, member: "disabled")
            expectProblem(try await world.server.send("DELETE", path, bearer: ours), 403, member: "disabled")
            #expect(try await patch(["disabled": false], as: world.admin).status == 200)
            #expect(try await world.server.send("DELETE", path, bearer: ours).status == 204)
            #expect(try await world.server.get("/admin/v1/webhooks").status == 401)
        }
    }

    @Test("A webhook's secrets are never shown, and are stored sealed", arguments: Backend.available)
    func secrets(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await DittoStory.make(world, ["secrets": [.string(Self.secret)]])
            let path = "/admin/v1/webhooks/\(try made.require("id"))"
            for answer in [
                made, try await world.server.get(path, bearer: world.admin),
                try await world.server.get("/admin/v1/webhooks", bearer: world.admin),
            ] {
                #expect(!answer.body.contains(Self.secret))
                #expect(!answer.body.contains("secrets"))
            }
            #expect(made.json["signed"] == true)
            let rows = try await world.server.database.read { db in
                try db.rows("SELECT document, sealed_secrets FROM webhooks").map { row in
                    (try row.get("document", as: String.self), try row.get("sealed_secrets", as: String?.self))
                }
            }
            #expect(rows.count == 1)
            for (document, sealed) in rows {
                let stored = try #require(sealed)
                #expect(!document.contains(Self.secret.prefix(16)))
                #expect(!stored.contains(Self.secret.prefix(16)))
            }
        }
    }

    @Test(
        "A deleted webhook's name can be used again only by its merchant or the platform", arguments: Backend.available)
    func deletedName(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await administrator(world, of: world.merchant)
            let rival = try await administrator(world, of: world.rival)
            let rivals: KeyValuePairs<String, JSON> = ["merchant_id": .string(world.rival)]
            let id = try await DittoStory.make(world, as: own).require("id")
            expectProblem(try await DittoStory.make(world, rivals, as: rival), 400, member: "name")
            try await delete(id, world)
            expectProblem(try await DittoStory.make(world, rivals, as: rival), 400, member: "name")
            let again = try await DittoStory.make(world, as: own)
            #expect(again.status == 201, "\(again)")
            try await delete(try again.require("id"), world)
            let moved = try await DittoStory.make(world, rivals)
            #expect(moved.status == 201, "\(moved)")
            // Now the name is the other merchant's.
            try await delete(try moved.require("id"), world)
            expectProblem(try await DittoStory.make(world, as: own), 400, member: "name")
        }
    }

    @Test("A deleted merchant's webhook names can be used again only by the platform", arguments: Backend.available)
    func merchant(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await DittoStory.make(world)
            let path = "/admin/v1/merchants/\(world.merchant)"
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            let rival = try await administrator(world, of: world.rival)
            let rivals: KeyValuePairs<String, JSON> = ["merchant_id": .string(world.rival)]
            expectProblem(try await DittoStory.make(world, rivals, as: rival), 400, member: "name")
            #expect(try await DittoStory.make(world, rivals).status == 201)
        }
    }

    @Test(
        "A merchant with more than a thousand former webhook names can itself take only those names again",
        arguments: Backend.available)
    func many(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.server.database.write { db in
                for number in 0...1000 {
                    try db.execute(
                        """
                        INSERT INTO taken (kind, name, merchant_id, gone_at)
                        VALUES ('webhook', \("loom-\(number)"), \(world.merchant), 0)
                        """)
                }
            }
            let own = try await administrator(world, of: world.merchant)
            expectProblem(try await DittoStory.make(world, as: own), 409)
            #expect(try await DittoStory.make(world).status == 201)
            // A name that it had before is free for it.
            #expect(try await DittoStory.make(world, ["name": "loom-7"], as: own).status == 201)
        }
    }

    private func delete(_ id: String, _ world: World) async throws {
        let answer = try await world.server.send("DELETE", "/admin/v1/webhooks/\(id)", bearer: world.admin)
        #expect(answer.status == 204)
    }

    private func administrator(_ world: World, of merchant: String) async throws -> String {
        let client = try await world.confidential(
            ["scope": "admin:merchant", "grant_types": ["client_credentials"]], of: merchant)
        return try await world.clientToken(client, scope: "admin:merchant")
    }
}
