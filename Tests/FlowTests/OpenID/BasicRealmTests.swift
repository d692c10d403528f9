import Foundation
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("HTTP Basic with a user's own name and password, where the operator set a realm")
struct BasicRealmTests {
    private static let settings = ["basic_realm": "Loom and friends"]
    private static let challenge = "Basic realm=\"Loom and friends\""
    private static let paths = ["/me", "/oauth/userinfo", "/userinfo"]

    private func ask(
        _ world: World, _ path: String, _ pair: String, scheme: String = "Basic"
    ) async throws -> Answer {
        let value = "\(scheme) \(Data(pair.utf8).base64EncodedString())"
        return try await world.server.get(path, headers: ["Authorization": value])
    }

    private func challenges(_ answer: Answer) -> [String] {
        answer.headers.filter { $0.name.lowercased() == "www-authenticate" }.map(\.value)
    }

    @Test(
        "With a realm set, HTTP Basic with a user's password reads that user's own data",
        arguments: Backend.available)
    func signedIn(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            try await world.change("users", world.user, ["phone_number": "+44 20 7946 0000"])
            for path in Self.paths {
                for (email, scheme) in [(World.email, "Basic"), ("Ada@Example.com ", "basic")] {
                    let answer = try await ask(world, path, "\(email):\(World.password)", scheme: scheme)
                    #expect(answer.status == 200, "\(answer)")
                    #expect(answer.json["sub"]?.string == world.user)
                    #expect(answer.json["email"]?.string == World.email)
                    #expect(answer.json["name"]?.string == "Ada Lovelace")
                    #expect(answer.json["phone_number"]?.string == "+44 20 7946 0000")
                }
            }
            // The first colon is the end of the name.
            try await world.change("users", world.user, ["password": "smørbrød: with a colon"])
            #expect(try await ask(world, "/me", "\(World.email):smørbrød: with a colon").status == 200)
        }
    }

    @Test(
        "With a realm set, every failure of a user's HTTP Basic credentials gets the same challenge",
        arguments: Backend.available)
    func challenge(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            _ = try await world.person("grace@example.com")
            let user = try await world.person("idle@example.com")
            try await world.change("users", user, ["disabled": true])
            for path in Self.paths {
                let answers = [
                    try await world.server.get(path),
                    try await ask(world, path, "grace@example.com:wrong"), try await ask(world, path, "nobody:x"),
                    try await ask(world, path, "idle@example.com:\(World.password)"),
                    try await ask(world, path, "no colon"),
                    try await world.server.get(path, headers: ["Authorization": "Basic !"]),
                    try await world.server.get(path, headers: ["Authorization": "Basic"]),
                    try await world.server.get(path, headers: ["Authorization": "Basic /zr/"]),
                ]
                for answer in answers {
                    #expect(answer.status == 401, "\(answer)")
                    #expect(answer.error == "invalid_token")
                    #expect(challenges(answer) == [Self.challenge])
                }
            }
            for path in ["/user/\(world.user)", "/admin/v1/users"] {
                #expect(challenges(try await world.server.get(path)) == ["Bearer realm=\"spindle\""])
                let answer = try await ask(world, path, "\(World.email):\(World.password)")
                #expect(answer.status == 401)
            }
        }
    }

    @Test(
        "With a Basic realm set, a request with an invalid token is challenged for a password too",
        arguments: Backend.available)
    func deadToken(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            for path in Self.paths {
                let answers = [
                    try await world.server.get(path, bearer: "nonsense"),
                    try await world.server.get("\(path)?oauth_token=nonsense"),
                ]
                for answer in answers {
                    #expect(answer.status == 401 && answer.error == "invalid_token", "\(answer)")
                    let told = challenges(answer)
                    #expect(told.count == 2 && told.last == Self.challenge)
                    #expect(told.first?.hasPrefix("Bearer realm=\"spindle\", error=\"invalid_token\"") == true)
                }
            }
        }
    }

    @Test(
        "With a Basic realm set, a bearer token works too, but not together with a password",
        arguments: Backend.available)
    func tokens(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let token = try await world.signIn(scope: "openid").require("access_token")
            for path in Self.paths { #expect(try await world.server.get(path, bearer: token).status == 200) }
            let both = try await world.server.post(
                "/oauth/userinfo", ["access_token": token], basic: (World.email, World.password))
            #expect(both.status == 400)
            let narrow = try await world.signIn(scope: "email").require("access_token")
            let answer = try await world.server.get("/oauth/userinfo", bearer: narrow)
            #expect(answer.status == 403)
            #expect(challenges(answer).count == 1)
        }
    }

    @Test(
        "Sign-ins of users by HTTP Basic are throttled and recorded as other sign-ins are",
        arguments: Backend.available)
    func throttled(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            var last = try await ask(world, "/me", "\(World.email):wrong")
            for _ in 1...30 where last.status == 401 {
                last = try await ask(world, "/me", "\(World.email):wrong")
            }
            #expect(last.status == 429)
            #expect(last.header("retry-after") != nil)
            #expect(try await ask(world, "/me", "\(World.email):\(World.password)").status == 429)
            let tries = try await world.server.database.read { db in
                try db.rows("SELECT succeeded FROM logins WHERE type = 'api'").count
            }
            #expect(tries > 1)
        }
    }

    @Test("A user whose deletion is pending cannot sign in by HTTP Basic", arguments: Backend.available)
    func leaving(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let due = world.server.clock.now + .days(3)
            try await world.server.database.write { db in
                _ = try db.execute("UPDATE users SET deletion_due_at = \(due) WHERE email = \(World.email)")
            }
            #expect(try await ask(world, "/me", "\(World.email):\(World.password)").status == 401)
        }
    }

    @Test("Without a realm set, users' passwords by HTTP Basic are not checked", arguments: Backend.available)
    func off(backend: Backend) async throws {
        try await World.with(backend) { world in
            for path in Self.paths {
                let answer = try await ask(world, path, "\(World.email):\(World.password)")
                #expect(answer.status == 401)
                #expect(challenges(answer) == ["Bearer realm=\"spindle\""])
            }
            let tries = try await world.server.database.read { try $0.rows("SELECT id FROM logins").count }
            #expect(tries == 0)
        }
    }
}
