import Foundation
import JSON
import TestSupport
import Testing

@Suite("Administration accepts only declared query parameters, and pages its lists")
struct AdministrationQueryTests {
    @Test(
        "Every route of administration refuses a query parameter that it does not declare, and names it",
        arguments: Backend.available)
    func everyRoute(backend: Backend) async throws {
        try await World.with(backend) { world in
            let routes = try world.server.routes.filter { $0.contains(" /admin/v1/") }
            #expect(routes.count >= 30)
            for route in routes {
                let parts = route.split(separator: " ")
                let path = parts[1].replacing(/\{[^}]*\}/, with: "x")
                func send(_ query: String, by token: String?) async throws -> Answer {
                    try await world.server.send(String(parts[0]), "\(path)?\(query)", bearer: token)
                }
                for name in ["surplus", "offset", "oauth_token", "%00"] {
                    let answer = try await send("\(name)=1", by: world.admin)
                    expectProblem(answer, 400)
                    #expect(answer.json["parameter"]?.string == (name == "%00" ? nil : name), "\(route): \(answer)")
                    #expect(answer.json["did_you_mean"] == nil, "\(route): \(answer)")
                }
                // A caller without the right learns nothing about parameters.
                expectProblem(try await send("surplus=1", by: nil), 401)
                let own = try await world.clientToken(world.backend)
                expectProblem(try await send("surplus=1", by: own), 403)
            }
        }
    }

    @Test("Administration refuses a misspelt query parameter and suggests the right one", arguments: Backend.available)
    func misspelt(backend: Backend) async throws {
        try await World.with(backend) { world in
            let cases = [
                ("users?emial=ada@example.com", "emial", "email"), ("users?Email=x", "Email", "email"),
                ("users?limit=5&cursors=x", "cursors", "cursor"), ("merchants?limti=1", "limti", "limit"),
                ("clients?merchant=x", "merchant", "merchant_id"), ("users?search=ada", "search", nil),
                ("users?merchant_id=x", "merchant_id", nil), ("issuers?id=7", "id", nil), ("issuers?=7", "", nil),
                ("users/\(world.user)?emial=x", "emial", nil),
            ]
            for (path, name, meant) in cases {
                let answer = try await world.server.get("/admin/v1/\(path)", bearer: world.admin)
                expectProblem(answer, 400)
                #expect(answer.json["parameter"]?.string == name, "\(path): \(answer)")
                #expect(answer.json["did_you_mean"]?.string == meant, "\(path): \(answer)")
                #expect(answer.json["items"] == nil)
            }
            let long = String(repeating: "x", count: 4000)
            let answer = try await world.server.get("/admin/v1/users?\(long)=1", bearer: world.admin)
            expectProblem(answer, 400)
            #expect(answer.json["parameter"]?.string == String(long.prefix(100)))
        }
    }

    @Test(
        "Administration refuses a query parameter that is repeated or has no value, and names it",
        arguments: Backend.available)
    func repeated(backend: Backend) async throws {
        try await World.with(backend) { world in
            for (path, name) in [
                ("users?limit=1&limit=1", "limit"), ("users?email=ada@example.com&email=ada@example.com", "email"),
                ("clients?merchant_id=\(world.merchant)&merchant_id=\(world.rival)", "merchant_id"),
                ("users?email=", "email"), ("users?email", "email"), ("users?cursor=", "cursor"),
                ("users?limit=", "limit"), ("clients?merchant_id=", "merchant_id"),
            ] {
                let answer = try await world.server.get("/admin/v1/\(path)", bearer: world.admin)
                expectProblem(answer, 400)
                #expect(answer.json["parameter"]?.string == name, "\(path): \(answer)")
            }
            for path in ["users?", "users?&", "users?limit=1&"] {
                #expect(try await world.server.get("/admin/v1/\(path)", bearer: world.admin).status == 200, "\(path)")
            }
        }
    }

    @Test(
        "Administration finds a user by e-mail address, in any letter case and with blanks around it",
        arguments: Backend.available)
    func address(backend: Backend) async throws {
        try await World.with(backend) { world in
            let tagged = try await world.newcomer("ada+news@example.com")
            for (text, user) in [
                ("ada@example.com", world.user), ("ADA@Example.COM", world.user), ("%20ada%40example.com+", world.user),
                ("ada%2Bnews@example.com", tagged), ("ada@example.co", nil), ("da@example.com", nil),
                ("%25@example.com", nil),
            ] {
                let answer = try await world.server.get("/admin/v1/users?email=\(text)", bearer: world.admin)
                #expect(answer.status == 200, "\(answer)")
                let found = answer.json["items"]?.array?.map { $0["user_id"]?.string }
                #expect(found == (user.map { [$0] } ?? []), "\(text): \(answer)")
                #expect(answer.json["next"] == .null)
            }
            for text in ["ada", "ada@", "ada+news@example.com", "*", "1001"] {
                let answer = try await world.server.get("/admin/v1/users?email=\(text)", bearer: world.admin)
                expectProblem(answer, 400)
                #expect(answer.json["parameter"]?.string == "email", "\(text): \(answer)")
            }
        }
    }

    @Test(
        "A merchant administrator finds only the merchant's own users by e-mail address",
        arguments: Backend.available)
    func ownUsers(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            func found(_ email: String) async throws -> [String?]? {
                let answer = try await world.server.get("/admin/v1/users?email=\(email)", bearer: token)
                return answer.json["items"]?.array?.map { $0["user_id"]?.string }
            }
            let rivals = try await world.newcomer("grace@example.com")
            try await world.introduce(rivals, to: world.rival)
            #expect(try await found(World.email) == [world.user])
            #expect(try await found("grace@example.com") == [])
            #expect(try await found("nobody@example.com") == [])
        }
    }

    @Test("The list of another merchant's clients is empty for a merchant administrator", arguments: Backend.available)
    func othersClients(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            func owners(_ query: String) async throws -> Set<String?>? {
                let answer = try await world.server.get("/admin/v1/clients\(query)", bearer: token)
                return (answer.json["items"]?.array).map { Set($0.map { $0["merchant_id"]?.string }) }
            }
            #expect(try await owners("") == [world.merchant])
            #expect(try await owners("?merchant_id=\(world.merchant)") == [world.merchant])
            #expect(try await owners("?merchant_id=\(world.rival)") == [])
            #expect(try await owners("?merchant_id=unknown") == [])
        }
    }

    private static let kinds = ["merchants", "clients", "users", "issuers", "webhooks", "initial-access-tokens"]

    @Test(
        "A list query's limit that is no whole number from 1 to 100 is refused and named",
        arguments: Backend.available)
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

    @Test(
        "A list query's cursor that is damaged, null or from another list is refused and named",
        arguments: Backend.available)
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

    @Test(
        "A list query's cursor is accepted only with the filter of the query that returned it",
        arguments: Backend.available)
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
        "The list of a client's secrets is paged; its cursor stays valid when the secret it follows is ended",
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
