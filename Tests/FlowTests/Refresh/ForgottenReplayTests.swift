import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("A refresh token that the server has forgotten is still known as a replay")
struct ForgottenReplayTests {
    /// The first and the newest token of a chain, of which the first is forgotten.
    private func chain(_ world: World) async throws -> (first: String, newest: String) {
        let first = try await world.signIn().require("refresh_token")
        let second = try await world.refresh(first).require("refresh_token")
        let newest = try await world.refresh(second).require("refresh_token")
        let fingerprint = Secret<World>(first).fingerprint.text
        let gone = try await world.server.database.write { db in
            try db.execute("DELETE FROM refresh_tokens WHERE fingerprint = \(fingerprint)")
        }
        #expect(gone == 1)
        return (first, newest)
    }

    @Test(
        "a thief rotates until the owner's token is forgotten, and its use ends nothing", arguments: Backend.available)
    func replay(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (first, newest) = try await chain(world)
            let other = try await world.signIn().require("refresh_token")
            #expect(try await world.refresh(first).error == "invalid_grant")
            #expect(world.server.log.says("refresh_token_replayed"))
            #expect(try await world.refresh(newest).error == "invalid_grant")
            #expect(try await world.refresh(other).status == 200)
            // Again, it is of a family that has ended.
            #expect(try await world.refresh(first).error == "invalid_grant")
        }
    }

    @Test("a forgotten token is revoked, and its thief goes on", arguments: Backend.available)
    func revoked(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (first, newest) = try await chain(world)
            let form = [("token", first), ("client_id", world.app.id)]
            #expect(try await world.server.post("/oauth/revoke", form: form).status == 200)
            #expect(try await world.refresh(newest).error == "invalid_grant")
        }
    }

    @Test("another client, or a text that is no token of the family, ends it", arguments: Backend.available)
    func foreign(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (first, newest) = try await chain(world)
            let other = try await world.signIn().require("refresh_token")
            #expect(first.utf8.count == other.utf8.count && first.utf8.count > 55)
            let last = try #require(first.last)
            let altered = first.dropLast() + (last == "A" ? "E" : "A")
            let mixed = other.prefix(55) + first.dropFirst(55)
            for text in [String(altered), String(first.prefix(55)), first + "AAAA", String(mixed)] {
                #expect(try await world.refresh(text).error == "invalid_grant", "\(text)")
            }
            #expect(try await world.refresh(first, as: world.rivalBackend).status == 400)
            let form = [("token", first)]
            let revoked = try await world.server.post("/oauth/revoke", form: form, basic: world.rivalBackend.basic)
            #expect(revoked.status == 200)
            #expect(try await world.refresh(newest).status == 200)
        }
    }
}
