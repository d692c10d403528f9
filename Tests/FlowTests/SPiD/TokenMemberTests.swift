import JOSE
import TestSupport
import Testing
import Values

@Suite("SPiD's clients get the members that SPiD's SDKs insist on, by every grant, and nobody else does")
struct TokenMemberTests {
    private static let rfc = ["access_token", "token_type", "expires_in", "scope", "refresh_token", "user_id"]
    private static let spid = rfc + ["is_admin", "server_time"]

    @Test("a person's token", arguments: Backend.available)
    func person(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            for (client, members) in [(spid, Self.spid), (world.backend, Self.rfc)] {
                let signedIn = try await world.signIn(with: client)
                let refreshed = try await world.refresh(try signedIn.require("refresh_token"), as: client)
                let bought = try await world.exchange(try await world.signIn().require("access_token"), for: client)
                let redeemed = try await world.redeem(try bought.require("code"), as: client)
                for answer in [signedIn, refreshed, redeemed] {
                    #expect(answer.json.members?.map(\.name) == members)
                    #expect(answer.json["user_id"]?.string == world.user)
                    #expect(answer.json["token_type"] == "Bearer")
                    #expect(answer.json["expires_in"] == .integer(3600))
                    #expect(answer.json["scope"] == "profile email")
                    guard client.id == spid.id else { continue }
                    #expect(answer.json["is_admin"] == .bool(false))
                    #expect(answer.json["server_time"] == .integer(world.server.clock.now.seconds))
                }
            }
        }
    }

    @Test("a client's own", arguments: Backend.available)
    func client(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            let own = try await world.token(["grant_type": "client_credentials"], as: spid)
            let refreshed = try await world.refresh(try own.require("refresh_token"), as: spid)
            for answer in [own, refreshed] {
                #expect(answer.json.members?.map(\.name) == Self.spid)
                #expect(answer.json["user_id"] == .bool(false))
            }
            let strict = try await world.token(["grant_type": "client_credentials"], as: world.backend)
            #expect(strict.json.members?.map(\.name) == ["access_token", "token_type", "expires_in", "scope"])
        }
    }

    @Test("an empty scope is said to be empty", arguments: Backend.available)
    func emptyScope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend(["scope": ""])
            #expect(try await world.signIn(with: spid).json["scope"] == "")
            let strict = try await world.confidential(["scope": ""])
            #expect(try await world.signIn(with: strict).json["scope"] == nil)
        }
    }
}
