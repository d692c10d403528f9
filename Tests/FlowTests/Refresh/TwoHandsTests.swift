import JSON
import TestSupport
import Testing

@Suite("A refresh token shared by two parties")
struct TwoHandsTests {
    @Test("a family ends after three rotations in a row are repeated", arguments: Backend.available)
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

    @Test("repeats of lost answers, with normal rotations between, keep the family alive", arguments: Backend.available)
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

    @Test("the answer to one rotation is not repeated without end", arguments: Backend.available)
    func often(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(old).require("refresh_token")
            for number in 1...50 { #expect(try await world.refresh(old).status == 200, "\(number)") }
            let before = world.server.interruptions.statementsWritten
            #expect(try await world.refresh(old).error == "invalid_grant")
            #expect(world.server.interruptions.statementsWritten == before, "what is refused is not written")
            #expect(world.server.log.says("reason=refresh_repeated_too_often"))
            // Who has the answer goes on.
            #expect(try await world.refresh(next).status == 200)
        }
    }

    @Test("of more repetitions at once than there may be, those too many are refused", arguments: Backend.available)
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

    @Test("an unconfirmed rotation can be repeated only within its window", arguments: Backend.available)
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
