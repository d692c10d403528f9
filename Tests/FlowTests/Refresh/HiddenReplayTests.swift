import Cryptography
import JSON
import TestSupport
import Testing

@Suite("A replayed refresh token that is refused for another reason first, and whose family lives on")
struct HiddenReplayTests {
    private static let resource = "https://api.example/orders"

    @Test("a signing client that lost a scope hides a replay", arguments: Backend.available)
    func lostScope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.signingClient(.generate(.es256), ["rotate_refresh_tokens": true])
            let password: KeyValuePairs = [
                "grant_type": "password", "username": World.email, "password": World.password,
            ]
            // A token that is good is refreshed with what is left.
            try await expectEnd(
                world, refused: nil, signIn: { try await client.ask(nil, password) },
                refresh: { try await client.ask(nil, ["grant_type": "refresh_token", "refresh_token": $0]) },
                while: { isOn in
                    try await world.change("clients", client.id, ["scope": isOn ? "profile" : "profile email"])
                })
        }
    }

    @Test("a client that lost the resource of its tokens hides a replay", arguments: Backend.available)
    func lostResource(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential([
                "resources": [.string(Self.resource)], "rotate_refresh_tokens": true,
            ])
            let password: KeyValuePairs = [
                "grant_type": "password", "username": World.email, "password": World.password,
                "resource": Self.resource,
            ]
            try await expectEnd(
                world, refused: "invalid_target", signIn: { try await world.token(password, as: client) },
                refresh: { try await world.refresh($0, as: client) },
                while: { isOn in
                    try await world.change("clients", client.id, ["resources": isOn ? [] : [.string(Self.resource)]])
                })
        }
    }

    @Test("a request for another resource hides a replay", arguments: Backend.available)
    func anotherResource(backend: Backend) async throws {
        try await World.with(backend) { world in
            func refresh(_ token: String) async throws -> Answer {
                try await world.token(
                    ["grant_type": "refresh_token", "refresh_token": token, "resource": Self.resource], as: world.app)
            }
            let copied = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(copied).require("refresh_token")
            let last = try await world.refresh(next).require("refresh_token")
            let other = try await world.signIn().require("refresh_token")
            #expect(try await refresh(other).error == "invalid_target")
            #expect(try await refresh(copied).error == "invalid_grant")
            #expect(world.server.log.says("refresh_token_replayed"))
            #expect(try await world.refresh(last).error == "invalid_grant")
            #expect(try await world.refresh(other).status == 200)
        }
    }

    @Test("an issuer that is disabled for a while hides a replay", arguments: Backend.available)
    func disabledIssuer(backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            let issuer = try await story.trust(host)
            try await expectEnd(
                story.world, refused: "invalid_grant", signIn: { try await story.signIn(at: host) },
                refresh: { try await story.world.refresh($0, as: story.app) },
                while: { isOn in try await story.world.change("issuers", issuer, ["disabled": .bool(isOn)]) })
        }
    }

    @Test("a client that asks for verified addresses for a while hides a replay", arguments: Backend.available)
    func unverified(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await expectEnd(
                world, refused: "invalid_grant", signIn: { try await world.signIn() },
                refresh: { try await world.refresh($0) },
                while: { isOn in
                    try await world.change("clients", world.app.id, ["require_verified_email": .bool(isOn)])
                })
        }
    }

    @Test("a scope that is too wide hides a rotated token that comes too late", arguments: Backend.available)
    func late(backend: Backend) async throws {
        try await World.with(backend) { world in
            let copied = try await world.signIn(scope: "profile").require("refresh_token")
            let last = try await world.refresh(copied).require("refresh_token")
            world.server.clock.advance(by: .seconds(600))
            #expect(try await world.refresh(copied, scope: "profile email").error == "invalid_scope")
            world.server.clock.advance(by: .milliseconds(1))
            #expect(try await world.refresh(copied, scope: "profile email").error == "invalid_grant")
            #expect(world.server.log.says("refresh_token_replayed"))
            #expect(try await world.refresh(last).error == "invalid_grant")
        }
    }

    /// Expects that a chain ends when its first token is presented while `change` holds, and no other chain does.
    /// `refused`: how a token that is good is refused meanwhile, if it is.
    private func expectEnd(
        _ world: World, refused: String?, signIn: () async throws -> Answer,
        refresh: (String) async throws -> Answer, while change: (Bool) async throws -> Answer
    ) async throws {
        let copied = try await signIn().require("refresh_token")
        let next = try await refresh(copied).require("refresh_token")
        let last = try await refresh(next).require("refresh_token")
        let other = try await signIn().require("refresh_token")
        let changed = try await change(true)
        #expect(changed.status == 200, "\(changed)")
        let good = try await refresh(other)
        #expect(good.error == refused, "\(good)")
        #expect(!world.server.log.says("refresh_token_replayed"))

        let replay = try await refresh(copied)
        #expect(replay.status == 400 && replay.error == "invalid_grant", "\(replay)")
        #expect(world.server.log.says("refresh_token_replayed"))
        let undone = try await change(false)
        #expect(undone.status == 200, "\(undone)")
        let ended = try await refresh(last)
        #expect(ended.status == 400 && ended.error == "invalid_grant", "\(ended)")
        let kept = try await refresh(other)
        #expect(kept.status == 200, "\(kept)")
    }
}
