import JSON
import Storage
import TestSupport
import Testing
import Values

@testable import Authentication

@Suite("What a merchant's data objects may grow by comes back with objects that end")
struct DataObjectEndTests {
    @Test(
        "Data objects that end with a connection, a user or a client give their size back to the merchant",
        arguments: Backend.available)
    func ended(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let (loom, sister) = (try await world.spidBackend(), try await world.spidBackend())
            let own = try await world.clientToken(loom)
            let sisters = try await world.clientToken(sister)
            func set(_ path: String, by token: String) async throws {
                let value = String(repeating: "x", count: 50_000)
                #expect(try await world.api(path, token, ["value": value]).status == 201)
            }
            let bucket = Fingerprint<Throttle.Bucket>(of: "data objects of|\(world.merchant)")
            func used() async throws -> Int64 {
                let rows = try await world.server.database.rows(
                    "SELECT theoretical_arrival FROM throttles WHERE name = \(bucket)")
                return try #require(rows.first).get("theoretical_arrival")
            }
            _ = try await world.signIn(with: sister)
            try await set("client/\(sister.id)/do/own", by: sisters)
            let kept = try await used()
            func store() async throws {
                _ = try await world.signIn(with: loom)
                for key in ["a", "b"] { try await set("user/\(world.user)/do/\(key)", by: own) }
                #expect(try await used() > kept)
            }
            func expectGivenBack(_ way: String) async throws {
                #expect(try await used() == kept, "\(way)")
                #expect(try await world.server.database.rows("SELECT id FROM data_objects").count == 1, "\(way)")
            }

            try await store()
            var ada = try await world.signedIn()
            #expect(try await ada.change("apps/revoke", ["client": loom.id]).status == 303)
            try await expectGivenBack("revoked by the user")

            try await store()
            let administrator = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let user = "/admin/v1/users/\(world.user)"
            #expect(try await world.server.send("DELETE", user, bearer: administrator).status == 204)
            try await expectGivenBack("disconnected by the merchant")

            try await store()
            #expect(try await world.server.send("DELETE", user, bearer: world.admin).status / 100 == 2)
            try await expectGivenBack("the user is deleted")

            try await set("client/\(loom.id)/do/own", by: own)
            #expect(try await used() > kept)
            let client = "/admin/v1/clients/\(loom.id)"
            #expect(try await world.server.send("DELETE", client, bearer: world.admin).status / 100 == 2)
            try await expectGivenBack("the client is deleted")
        }
    }
}
