import JSON
import Storage
import TestSupport
import Testing

@Suite("The first use of a rotation's tokens confirms it; afterwards its predecessor is a replay")
struct ConfirmationTests {
    @Test("using the successor confirms a rotation", arguments: Backend.available)
    func bySuccessor(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(old)
            let later = try await world.refresh(try next.require("refresh_token"))
            try await expectReplay(of: old, ends: [next, later], world)
        }
    }

    @Test("calling /me with the new access token confirms a rotation", arguments: Backend.available)
    func byAccessToken(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(old)
            #expect(try await world.isLive(try next.require("access_token")))
            try await expectReplay(of: old, ends: [next], world)
        }
    }

    @Test(
        "introspection of the new access token by a resource server confirms a rotation", arguments: Backend.available)
    func byIntrospection(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(old)
            let told = try await world.introspect(try next.require("access_token"), as: world.backend)
            #expect(told.json["active"]?.bool == true)
            try await expectReplay(of: old, ends: [next], world)
        }
    }

    @Test("buying a code with the new access token confirms a rotation", arguments: Backend.available)
    func byExchange(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(old)
            _ = try await world.code(of: next)
            try await expectReplay(of: old, ends: [next], world)
        }
    }

    @Test("introspection by an unrelated client does not confirm a rotation", arguments: Backend.available)
    func notByStranger(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn().require("refresh_token")
            let next = try await world.refresh(old)
            let told = try await world.introspect(try next.require("access_token"), as: world.rivalBackend)
            #expect(told.json["active"]?.bool == false)
            #expect(try await world.refresh(old).json["refresh_token"] == next.json["refresh_token"])
        }
    }

    @Test("the sealed successor is erased once it is confirmed", arguments: Backend.available)
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
}
