import JSON
import TestSupport
import Testing

@Suite("A refresh whose answer is lost")
struct RotationTests {
    @Test("a public client's refresh token rotates, and earlier access tokens live on", arguments: Backend.available)
    func rotates(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let next = try await world.refresh(try phone.require("refresh_token"))
            #expect(next.status == 200)
            #expect(try next.require("refresh_token") != phone.require("refresh_token"))
            #expect(try next.require("access_token") != phone.require("access_token"))
            #expect(next.json["user_id"]?.string == world.user)
            #expect(next.json["scope"]?.string == phone.json["scope"]?.string)
            #expect(try await world.isLive(try next.require("access_token")))
            #expect(try await world.isLive(try phone.require("access_token")))
        }
    }

    @Test(
        "a phone that repeats a refresh gets the same successor with a fresh access token",
        arguments: Backend.available)
    func lostAnswer(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let lost = try await world.refresh(old)
            world.server.clock.advance(by: .seconds(600))
            let again = try await world.refresh(old)
            #expect(again.status == 200)
            #expect(try again.require("refresh_token") == lost.require("refresh_token"))
            #expect(try again.require("access_token") != lost.require("access_token"))
            // A thief of the lost answer has nothing.
            #expect(try await !world.isLive(try lost.require("access_token")))
            #expect(try await world.isLive(try again.require("access_token")))
            #expect(try await world.refresh(try again.require("refresh_token")).status == 200)
        }
    }

    @Test("an answer may be lost any number of times within one rotation", arguments: Backend.available)
    func lostAgainAndAgain(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            var answers: [Answer] = []
            for _ in 1...5 { answers.append(try await world.refresh(old)) }
            #expect(Set(try answers.map { try $0.require("refresh_token") }).count == 1)
            for lost in answers.dropLast() { #expect(try await !world.isLive(try lost.require("access_token"))) }
            #expect(try await world.isLive(try answers[4].require("access_token")))
        }
    }

    @Test("parallel refreshes of one token all get the same successor", arguments: Backend.available)
    func parallel(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let answers = try await race(16) { try await world.refresh(old) }
            let answered = answers.filter { $0.status == 200 }
            // Who found the row in others' hands too often is told to ask again, and nothing worse.
            #expect(answers.allSatisfy { $0.status == 200 || $0.status == 503 })
            #expect(!answered.isEmpty)
            #expect(Set(try answered.map { try $0.require("refresh_token") }).count == 1)
            var live = 0
            for answer in answered where try await world.isLive(try answer.require("access_token")) { live += 1 }
            #expect(live == 1)
        }
    }

    @Test("a confidential client keeps its refresh token", arguments: Backend.available)
    func confidentialKeeps(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn(with: world.backend).require("refresh_token")
            let first = try await world.refresh(token, as: world.backend)
            #expect(first.json["refresh_token"]?.string == token)
            #expect(try await world.isLive(try first.require("access_token")))
            let second = try await world.refresh(token, as: world.backend)
            #expect(second.json["refresh_token"]?.string == token)
            #expect(try await world.isLive(try first.require("access_token")))
        }
    }

    @Test("a confidential client set to rotate gets a new refresh token each time", arguments: Backend.available)
    func confidentialRotates(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential(["rotate_refresh_tokens": true])
            let old = try await world.signIn(with: client).require("refresh_token")
            let next = try await world.refresh(old, as: client)
            #expect(try next.require("refresh_token") != old)
            #expect(try await world.isLive(try next.require("access_token")))
            #expect(try await world.refresh(old, as: client).error == "invalid_grant")
        }
    }

    @Test("a client without a secret is set not to rotate, and rotates all the same", arguments: Backend.available)
    func publicRotates(backend: Backend) async throws {
        try await World.with(backend) { world in
            let never: JSON = ["rotate_refresh_tokens": false]
            let changed = try await world.change("clients", world.app.id, never)
            expectProblem(changed, 400, member: "rotate_refresh_tokens")
            let made = try await World.make(
                world.server, world.admin, "clients",
                [
                    "merchant_id": .string(world.merchant), "client_name": "App", "rotate_refresh_tokens": false,
                    "token_endpoint_auth_method": "none",
                ])
            expectProblem(made, 400, member: "rotate_refresh_tokens")
            // What is shown of it can be sent back.
            let always: JSON = ["rotate_refresh_tokens": true]
            #expect(try await world.change("clients", world.app.id, always).status == 200)
        }
    }

    @Test("a client that begins or ceases to rotate loses no user", arguments: Backend.available)
    func settingChanges(backend: Backend) async throws {
        try await World.with(backend) { world in
            let kept = try await world.signIn(with: world.backend).require("refresh_token")
            try await world.change("clients", world.backend.id, ["rotate_refresh_tokens": true])
            let rotated = try await world.refresh(kept, as: world.backend).require("refresh_token")
            #expect(rotated != kept)
            try await world.change("clients", world.backend.id, ["rotate_refresh_tokens": false])
            #expect(try await world.refresh(rotated, as: world.backend).json["refresh_token"]?.string == rotated)
            #expect(try await world.refresh(kept, as: world.backend).error == "invalid_grant")
        }
    }
}
