import JSON
import Storage
import TestSupport
import Testing

@Suite("Refresh tokens rotate, and a refresh whose answer got lost can be repeated")
struct RotationTests {
    @Test(
        "A public client's refresh token rotates at each refresh, and earlier access tokens stay valid",
        arguments: Backend.available)
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
        "A repeated unconfirmed refresh gets the same new refresh token with another access token",
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
            // The lost answer's access token is void.
            #expect(try await !world.isLive(try lost.require("access_token")))
            #expect(try await world.isLive(try again.require("access_token")))
            #expect(try await world.refresh(try again.require("refresh_token")).status == 200)
        }
    }

    @Test(
        "The answer to one refresh may be lost several times, as each repeat gets the same successor",
        arguments: Backend.available)
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

    @Test("Parallel refreshes of one token that succeed all get the same successor", arguments: Backend.available)
    func parallel(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let answers = try await race(16) { try await world.refresh(old) }
            let answered = answers.filter { $0.status == 200 }
            // A request that lost the row too often is told to try again.
            #expect(answers.allSatisfy { $0.status == 200 || $0.status == 503 })
            #expect(!answered.isEmpty)
            #expect(Set(try answered.map { try $0.require("refresh_token") }).count == 1)
            var live = 0
            for answer in answered where try await world.isLive(try answer.require("access_token")) { live += 1 }
            #expect(live == 1)
        }
    }

    @Test("A confidential client keeps the same refresh token at each refresh", arguments: Backend.available)
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

    @Test(
        "A confidential client with rotate_refresh_tokens gets a new refresh token at each refresh",
        arguments: Backend.available)
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

    @Test("An administrator cannot turn off rotate_refresh_tokens for a public client", arguments: Backend.available)
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
            // The shown value can be sent back.
            let always: JSON = ["rotate_refresh_tokens": true]
            #expect(try await world.change("clients", world.app.id, always).status == 200)
        }
    }

    @Test(
        "A client's users stay signed in when its refresh token rotation is turned on or off",
        arguments: Backend.available)
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

    @Test(
        "Using the new refresh token confirms the rotation, and the old one's reuse then ends the family",
        arguments: Backend.available)
    func bySuccessor(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(old)
            let later = try await world.refresh(try next.require("refresh_token"))
            try await expectReplay(of: old, ends: [next, later], world)
        }
    }

    @Test("Calling /me with the new access token confirms the refresh token's rotation", arguments: Backend.available)
    func byAccessToken(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(old)
            #expect(try await world.isLive(try next.require("access_token")))
            try await expectReplay(of: old, ends: [next], world)
        }
    }

    @Test(
        "Introspection of the new access token by a resource server confirms the refresh token's rotation",
        arguments: Backend.available)
    func byIntrospection(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(old)
            let told = try await world.introspect(try next.require("access_token"), as: world.backend)
            #expect(told.json["active"]?.bool == true)
            try await expectReplay(of: old, ends: [next], world)
        }
    }

    @Test("Buying a code with the new access token confirms the refresh token's rotation", arguments: Backend.available)
    func byExchange(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(old)
            _ = try await world.code(of: next)
            try await expectReplay(of: old, ends: [next], world)
        }
    }

    @Test(
        "Introspection by an unrelated client does not confirm a refresh token's rotation",
        arguments: Backend.available)
    func notByStranger(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(old)
            let told = try await world.introspect(try next.require("access_token"), as: world.rivalBackend)
            #expect(told.json["active"]?.bool == false)
            #expect(try await world.refresh(old).json["refresh_token"] == next.json["refresh_token"])
        }
    }

    @Test(
        "The sealed successor of a refresh token is erased once its rotation is confirmed",
        arguments: Backend.available)
    func erased(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(old)
            #expect(try await sealedSuccessors(world) == 1)
            #expect(try await world.isLive(try next.require("access_token")))
            #expect(try await sealedSuccessors(world) == 0)
        }
    }

    private func sealedSuccessors(_ world: World) async throws -> Int {
        try await world.server.database.read { db in
            try db.rows("SELECT fingerprint FROM refresh_tokens WHERE sealed_successor IS NOT NULL").count
        }
    }

    private func expectReplay(of old: String, ends family: [Answer], _ world: World) async throws {
        let replay = try await world.refresh(old)
        #expect(replay.status == 400)
        #expect(replay.error == "invalid_grant")
        #expect(world.server.log.says("refresh_token_replayed"))
        for member in family {
            #expect(try await !world.isLive(try member.require("access_token")))
            #expect(try await world.refresh(try member.require("refresh_token")).error == "invalid_grant")
        }
    }

    @Test("A token family ends when three refresh token rotations in a row are repeated", arguments: Backend.available)
    func turns(backend: Backend) async throws {
        try await World.with(backend) { world in
            var shared = try await world.signIn().require("refresh_token")
            // Neither shows its access token here, as with JWTs that others verify.
            for turn in 1...3 {
                let first = try await world.refresh(shared)
                let second = try await world.refresh(shared)
                guard turn < 3 else {
                    #expect(second.error == "invalid_grant")
                    #expect(world.server.log.says("reason=refresh_token_in_two_hands"))
                    #expect(try await world.refresh(try first.require("refresh_token")).error == "invalid_grant")
                    #expect(try await !world.isLive(try first.require("access_token")))
                    return
                }
                #expect(second.json["refresh_token"] == first.json["refresh_token"])
                shared = try second.require("refresh_token")
            }
        }
    }

    @Test(
        "A token family survives repeats of lost answers with normal rotations between them",
        arguments: Backend.available)
    func badLine(backend: Backend) async throws {
        try await World.with(backend) { world in
            var token = try await world.signIn().require("refresh_token")
            for round in 1...9 {
                var answer = try await world.refresh(token)
                // Two of three rotations lose their answers, one of them again and again.
                for _ in 0..<(round % 3) * 2 { answer = try await world.refresh(token) }
                #expect(answer.status == 200, "\(round)")
                token = try answer.require("refresh_token")
            }
        }
    }

    @Test("The answer to one rotation of a refresh token is repeated at most fifty times", arguments: Backend.available)
    func often(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(old).require("refresh_token")
            for number in 1...50 { #expect(try await world.refresh(old).status == 200, "\(number)") }
            let before = world.server.interruptions.statementsWritten
            #expect(try await world.refresh(old).error == "invalid_grant")
            #expect(world.server.interruptions.statementsWritten == before, "what is refused is not written")
            #expect(world.server.log.says("reason=refresh_repeated_too_often"))
            // The holder of the answer goes on.
            #expect(try await world.refresh(next).status == 200)
        }
    }

    @Test("Concurrent repetitions of one refresh beyond fifty are refused", arguments: Backend.available)
    func oftenAtOnce(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(old).require("refresh_token")
            let answers = try await race(80) { try await world.refresh(old) }
            #expect(answers.count { $0.status == 200 } <= 50)
            #expect(answers.contains { $0.status == 200 })
            #expect(answers.allSatisfy { $0.status == 200 || $0.error == "invalid_grant" || $0.status == 503 })
            #expect(try await world.refresh(next).status == 200)
        }
    }

    @Test(
        "An unconfirmed rotation can be repeated within refresh_repeat_window; later a repeat ends the family",
        arguments: Backend.available)
    func window(backend: Backend) async throws {
        try await World.with(backend) { world in
            let early = try await world.signIn().require("refresh_token")
            #expect(try await world.refresh(early).status == 200)
            world.server.clock.advance(by: .seconds(600))
            let repeated = try await world.refresh(early)
            #expect(repeated.status == 200)
            world.server.clock.advance(by: .milliseconds(1))
            #expect(try await world.refresh(early).error == "invalid_grant")
            #expect(try await world.refresh(try repeated.require("refresh_token")).error == "invalid_grant")

            try await world.change("clients", world.app.id, ["refresh_repeat_window": 0])
            let never = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(never)
            world.server.clock.advance(by: .milliseconds(1))
            #expect(try await world.refresh(never).error == "invalid_grant")
            #expect(try await world.refresh(try next.require("refresh_token")).error == "invalid_grant")
            let tooLong = try await world.change("clients", world.app.id, ["refresh_repeat_window": 86_401])
            #expect(tooLong.status == 400 && tooLong.body.contains("refresh_repeat_window"), "\(tooLong)")
        }
    }
}
