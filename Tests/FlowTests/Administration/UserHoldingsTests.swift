import JSON
import TestSupport
import Testing

@Suite("Administrators see and end what a user has")
struct UserHoldingsTests {
    private static func token(_ scope: String, of merchant: String, in world: World) async throws -> String {
        try await world.clientToken(
            try await world.confidential(
                ["scope": .string(scope), "grant_types": ["client_credentials"]], of: merchant), scope: scope)
    }

    private static func items(_ path: String, in world: World, by token: String? = nil) async throws -> [JSON] {
        let answer = try await world.server.get("/admin/v1/\(path)", bearer: token ?? world.admin)
        try #require(answer.status == 200, "\(path): \(answer)")
        return answer.json["items"]?.array ?? []
    }

    @Test("An administrator ends one token family of a user, or all of them", arguments: Backend.available)
    func families(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phones = [try await world.signIn(), try await world.signIn(), try await world.signIn()]
            let tokens = try phones.map { try $0.require("access_token") }
            let path = "users/\(world.user)/tokens"
            let families = try await Self.items(path, in: world).compactMap { $0["id"]?.string }
            #expect(families.count == 3 && families == families.sorted())
            let first = try await world.server.send("DELETE", "/admin/v1/\(path)/\(families[0])", bearer: world.admin)
            #expect(first.status == 204)
            var live = 0
            for token in tokens where try await world.isLive(token) { live += 1 }
            #expect(live == 2)
            let again = try await world.server.send("DELETE", "/admin/v1/\(path)/\(families[0])", bearer: world.admin)
            expectProblem(again, 404)
            let all = try await world.server.send("DELETE", "/admin/v1/\(path)", bearer: world.admin)
            #expect(all.status == 204)
            for token in tokens { #expect(try await !world.isLive(token)) }
            #expect(try await Self.items(path, in: world).isEmpty)
        }
    }

    @Test(
        "A merchant administrator sees and ends only what a user has at the merchant's own clients",
        arguments: Backend.available)
    func borders(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            try await world.introduce(world.user, to: world.rival)
            let own = try await Self.token("admin:merchant", of: world.merchant, in: world)
            let rival = try await Self.token("admin:merchant", of: world.rival, in: world)
            for part in ["tokens", "sessions", "consents", "identities", "throttles", "mails", "logins"] {
                _ = try await Self.items("users/\(world.user)/\(part)", in: world, by: own)
            }
            #expect(try await Self.items("users/\(world.user)/tokens", in: world, by: own).count == 1)
            let seen = try await world.server.get("/admin/v1/users/\(world.user)/tokens", bearer: rival)
            #expect(seen.status == 404 || seen.json["items"] == .array([]), "\(seen)")
            _ = try await world.server.send("DELETE", "/admin/v1/users/\(world.user)/tokens", bearer: rival)
            #expect(try await world.isLive(try phone.require("access_token")))
        }
    }

    @Test(
        "Support unlocks a user and ends tokens, and neither removes links nor drops mails",
        arguments: Backend.available)
    func support(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.signIn()
            let support = try await Self.token("admin:support", of: world.merchant, in: world)
            func send(_ method: String, _ path: String) async throws -> Int {
                try await world.server.send(method, "/admin/v1/users/\(world.user)/\(path)", bearer: support).status
            }
            #expect(try await send("POST", "unlock") == 200)
            #expect(try await send("DELETE", "tokens") == 204)
            #expect(try await send("DELETE", "sessions") == 204)
            #expect(try await send("DELETE", "consents/\(world.app.id)") == 204)
            for path in ["identities", "mails"] { #expect(try await send("DELETE", path) == 403, "\(path)") }
            #expect(try await send("POST", "deletion") == 403)
        }
    }

    @Test("Unlocking a user lets the right password in again", arguments: Backend.available)
    func unlock(backend: Backend) async throws {
        try await World.with(backend) { world in
            var status = 400
            for _ in 0..<15 {
                status = try await world.server.post(
                    "/oauth/token",
                    [
                        "grant_type": "password", "client_id": world.app.id, "username": World.email,
                        "password": "wrong",
                    ]
                ).status
            }
            #expect(status == 429)
            let path = "users/\(world.user)"
            let throttles = try await Self.items("\(path)/throttles", in: world)
            #expect(throttles.contains { ($0["wait"]?.integer ?? 0) > 0 })
            let lifted = try await world.server.send("POST", "/admin/v1/\(path)/unlock", bearer: world.admin)
            #expect(lifted.json["lifted"]?.integer == Int64(throttles.count))
            #expect(try await world.signIn().status == 200)
        }
    }

    @Test("A begun deletion ends all access, tells the user, and can be cancelled", arguments: Backend.available)
    func deletion(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let path = "/admin/v1/users/\(world.user)/deletion"
            let begun = try await world.server.send("POST", path, bearer: world.admin)
            #expect(begun.status == 200 && (begun.json["deletion_due_at"]?.integer ?? 0) > 0, "\(begun)")
            #expect(try await !world.isLive(try phone.require("access_token")))
            try await world.allMailsSent()
            let again = try await world.server.send("POST", path, bearer: world.admin)
            #expect(again.json == begun.json)
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            expectProblem(try await world.server.send("DELETE", path, bearer: world.admin), 409)
            #expect(try await world.signIn().status == 200)
        }
    }

    @Test("An empty id in a path is 404, and ends nothing", arguments: Backend.available)
    func emptyID(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            for part in ["tokens", "sessions", "consents", "identities", "throttles", "mails"] {
                let answer = try await world.server.send(
                    "DELETE", "/admin/v1/users/\(world.user)/\(part)/", bearer: world.admin)
                #expect(answer.status == 404, "\(part)")
            }
            #expect(try await world.isLive(token))
        }
    }

    @Test("What a user has is 404 for a user who does not exist", arguments: Backend.available)
    func unknownUser(backend: Backend) async throws {
        try await World.with(backend) { world in
            for (method, path) in [
                ("GET", "tokens"), ("GET", "logins"), ("DELETE", "tokens"), ("DELETE", "throttles"), ("POST", "unlock"),
            ] {
                let answer = try await world.server.send(
                    method, "/admin/v1/users/987654321/\(path)", bearer: world.admin)
                expectProblem(answer, 404)
            }
        }
    }

    @Test("Support unlocks a user five times an hour at most, in any way", arguments: Backend.available)
    func fewUnlocks(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await World.client(
                world.server, world.admin,
                ["client_name": "Help", "grant_types": ["client_credentials"], "scope": "admin:support"])
            let support = try await world.clientToken(client, scope: "admin:support")
            let path = "/admin/v1/users/\(world.user)"
            func guess() async throws {
                _ = try await world.server.post(
                    "/oauth/token",
                    [
                        "grant_type": "password", "client_id": world.app.id, "username": World.email,
                        "password": "wrong",
                    ])
            }
            for _ in 0..<5 {
                try await guess()
                let unlocked = try await world.server.send("POST", "\(path)/unlock", bearer: support)
                #expect(unlocked.status == 200, "\(unlocked)")
            }
            try await guess()
            let refused = try await world.server.send("POST", "\(path)/unlock", bearer: support)
            expectProblem(refused, 429)
            #expect(refused.header("retry-after") != nil)
            expectProblem(try await world.server.send("DELETE", "\(path)/throttles", bearer: support), 429)
            #expect(try await world.server.send("POST", "\(path)/unlock", bearer: world.admin).status == 200)
        }
    }

    @Test("Support orders no more mails for a user than the user could, unlocked or not", arguments: Backend.available)
    func fewMails(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.signIn()
            let support = try await Self.token("admin:support", of: world.merchant, in: world)
            let path = "/admin/v1/users/\(world.user)"
            func order(by token: String) async throws -> Answer {
                try await world.server.send("POST", "\(path)/mails", json: ["kind": "reset"], bearer: token)
            }
            for _ in 0..<5 { #expect(try await order(by: support).status == 202) }
            #expect(try await world.server.send("POST", "\(path)/unlock", bearer: world.admin).status == 200)
            expectProblem(try await order(by: support), 429)
            #expect(try await order(by: world.admin).status == 202)
        }
    }
}
