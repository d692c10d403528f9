import Cryptography
import JSON
import TestSupport
import Testing

@Suite("Users sign in with a name and a password")
struct PasswordTests {
    @Test(
        "An unknown user and a wrong password get the same answer after the same hashing work",
        arguments: Backend.available)
    func alike(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await World.make(world.server, world.admin, "users", ["email": "nopassword@example.com"])
            var answers: [String] = []
            var work: [Int] = []
            for (name, password) in [
                (World.email, "wrong password"), ("nobody@example.com", World.password), ("not an address", "x"),
                ("nopassword@example.com", World.password),
            ] {
                let before = world.server.hashing.hashesComputed
                let answer = try await world.signIn(as: name, password: password)
                try await expect(400, "invalid_grant", answer, name)
                work.append(world.server.hashing.hashesComputed - before)
                answers.append(answer.body)
            }
            #expect(Set(answers).count == 1)
            #expect(work == [1, 1, 1, 1])
        }
    }

    @Test(
        "At a sign-in, letter case and white space around the e-mail address are ignored, and nothing else",
        arguments: Backend.available)
    func addresses(backend: Backend) async throws {
        try await World.with(backend) { world in
            for name in [" ada@example.com ", "ADA@Example.COM", "\tAda@example.com\n"] {
                #expect(try await world.signIn(as: name).json["user_id"]?.string == world.user, "\(name)")
            }
            for name in ["ada+shop@example.com", "a.da@example.com", "ada@example.com.", "ada"] {
                #expect(try await world.signIn(as: name).error == "invalid_grant", "\(name)")
            }
            let alias = try await world.person("Ada+Shop@example.com")
            #expect(try await world.signIn(as: "ada+shop@example.com").json["user_id"]?.string == alias)
            let taken = try await World.make(
                world.server, world.admin, "users", ["email": " ADA@example.com", "password": "another password"])
            #expect(taken.status == 409)
        }
    }

    @Test("A password is used exactly as it is typed", arguments: Backend.available)
    func exact(backend: Backend) async throws {
        try await World.with(backend) { world in
            for password in [World.password + " ", " " + World.password, World.password.uppercased(), "correct"] {
                #expect(try await world.signIn(password: password).error == "invalid_grant", "\(password)")
            }
            for password in ["pä ss wörd ✓ +%&=", String(repeating: "wxy ", count: 32), "  a loom "] {
                try await world.change("users", world.user, ["password": .string(password)])
                #expect(try await world.signIn(password: password).status == 200, "\(password)")
            }
        }
    }

    @Test(
        "A password that is far too long is answered like a wrong password, not with an internal error",
        arguments: Backend.available)
    func tooLong(backend: Backend) async throws {
        try await World.with(backend) { world in
            for length in [1025, 30_000] {
                let answer = try await world.signIn(password: String(repeating: "x", count: length))
                #expect(answer.status == 400)
                #expect(answer.error == "invalid_grant")
            }
        }
    }

    @Test("A disabled user gets the same answer as for a wrong password", arguments: Backend.available)
    func disabled(backend: Backend) async throws {
        try await World.with(backend) { world in
            let wrong = try await world.signIn(password: "wrong password")
            try await world.change("users", world.user, ["disabled": true])
            let disabled = try await world.signIn()
            #expect(disabled.status == 400)
            #expect(disabled.body == wrong.body)
            #expect(world.server.log.says("disabled_user"))
            try await world.change("users", world.user, ["disabled": false])
            #expect(try await world.signIn().status == 200)
        }
    }

    @Test("A new password set by administration ends the tokens got with the former one", arguments: Backend.available)
    func changed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            try await world.change("users", world.user, ["password": "an entirely new one"])
            #expect(try await !world.isLive(try phone.require("access_token")))
            #expect(try await world.refresh(try phone.require("refresh_token")).error == "invalid_grant")
            #expect(try await world.signIn().error == "invalid_grant")
            #expect(try await world.signIn(password: "an entirely new one").status == 200)
        }
    }

    @Test("A deleted user cannot sign in, and their tokens are inactive", arguments: Backend.available)
    func deleted(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let gone = try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: world.admin)
            #expect(gone.status == 204)
            #expect(try await !world.isLive(try phone.require("access_token")))
            #expect(try await world.refresh(try phone.require("refresh_token")).error == "invalid_grant")
            #expect(try await world.signIn().error == "invalid_grant")
        }
    }
}
