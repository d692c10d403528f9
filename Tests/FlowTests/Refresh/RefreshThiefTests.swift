import JSON
import TestSupport
import Testing

@Suite("A stolen copy of a refresh token")
struct RefreshThiefTests {
    @Test(
        "a thief who uses the token after its owner ends the family, and the owner signs in again",
        arguments: Backend.available)
    func thiefSecond(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stolen = try await world.signIn().require("refresh_token")
            let owner = try await world.refresh(stolen)
            #expect(try await world.isLive(try owner.require("access_token")))

            #expect(try await world.refresh(stolen).error == "invalid_grant")
            #expect(try await !world.isLive(try owner.require("access_token")))
            #expect(try await world.refresh(try owner.require("refresh_token")).error == "invalid_grant")
            #expect(try await world.signIn().status == 200)
        }
    }

    @Test("the owner's next refresh after a thief's ends the thief's tokens", arguments: Backend.available)
    func thiefFirst(backend: Backend) async throws {
        try await World.with(backend) { world in
            let shared = try await world.signIn()
            let thief = try await world.refresh(try shared.require("refresh_token"))
            #expect(try await world.isLive(try thief.require("access_token")))

            #expect(try await world.refresh(try shared.require("refresh_token")).error == "invalid_grant")
            #expect(try await !world.isLive(try thief.require("access_token")))
            #expect(try await world.refresh(try thief.require("refresh_token")).error == "invalid_grant")
            #expect(try await !world.isLive(try shared.require("access_token")))
        }
    }

    @Test(
        "a thief cannot share a family for long by repeating unconfirmed rotations",
        arguments: Backend.available)
    func thiefInTheWindow(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stolen = try await world.signIn().require("refresh_token")
            let owner = try await world.refresh(stolen)
            let thief = try await world.refresh(stolen)
            #expect(thief.json["refresh_token"] == owner.json["refresh_token"])
            // One of the two access tokens is dead, so the owner notices and refreshes.
            #expect(try await !world.isLive(try owner.require("access_token")))
            let shared = try owner.require("refresh_token")
            let next = try await world.refresh(shared)
            #expect(try await world.isLive(try next.require("access_token")))
            // The next of the two to use the shared token ends the family for both.
            #expect(try await world.refresh(shared).error == "invalid_grant")
            #expect(try await !world.isLive(try next.require("access_token")))
            #expect(try await !world.isLive(try thief.require("access_token")))
        }
    }

    @Test("a token from far up the chain ends the family too", arguments: Backend.available)
    func ancestor(backend: Backend) async throws {
        try await World.with(backend) { world in
            let first = try await world.signIn().require("refresh_token")
            var last = try await world.refresh(first)
            for _ in 1...3 { last = try await world.refresh(try last.require("refresh_token")) }
            #expect(try await world.refresh(first).error == "invalid_grant")
            #expect(try await world.refresh(try last.require("refresh_token")).error == "invalid_grant")
        }
    }

    @Test("an ancestor that expired long ago still ends the family", arguments: Backend.available)
    func expiredAncestor(backend: Backend) async throws {
        try await World.with(backend) { world in
            let first = try await world.signIn().require("refresh_token")
            let second = try await world.refresh(first)
            #expect(try await world.isLive(try second.require("access_token")))
            world.server.clock.advance(by: .seconds(29 * 86400))
            let third = try await world.refresh(try second.require("refresh_token"))
            world.server.clock.advance(by: .seconds(2 * 86400))
            #expect(try await world.refresh(first).error == "invalid_grant")
            #expect(try await world.refresh(try third.require("refresh_token")).error == "invalid_grant")
        }
    }

    @Test("a replay ends the sessions that the family bought, and no other sign-in", arguments: Backend.available)
    func reach(backend: Backend) async throws {
        try await World.with(backend) { world in
            let tablet = try await world.signIn()
            let phone = try await world.signIn()
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phone))")
            #expect(try await webview.isSignedIn())

            let old = try phone.require("refresh_token")
            let next = try await world.refresh(old)
            #expect(try await world.isLive(try next.require("access_token")))
            #expect(try await world.refresh(old).error == "invalid_grant")
            #expect(try await !webview.isSignedIn())
            #expect(try await world.isLive(try tablet.require("access_token")))
            #expect(try await world.refresh(try tablet.require("refresh_token")).status == 200)
        }
    }

    @Test(
        "another client, even of the same merchant, neither uses nor revokes a refresh token",
        arguments: Backend.available)
    func otherClient(backend: Backend) async throws {
        try await World.with(backend) { world in
            let first = try await world.signIn()
            let old = try first.require("refresh_token")
            let next = try await world.refresh(old)
            #expect(try await world.isLive(try next.require("access_token")))
            for stranger in [world.backend, world.rivalBackend] {
                let asked = try await world.refresh(try next.require("refresh_token"), as: stranger)
                #expect(asked.status == 400)
                #expect(asked.error == "invalid_grant")
                // Not even a confirmed predecessor is a replay in a stranger's hand.
                #expect(try await world.refresh(old, as: stranger).error == "invalid_grant")
            }
            #expect(try await world.isLive(try next.require("access_token")))
            #expect(try await world.refresh(try next.require("refresh_token")).status == 200)
        }
    }
}
