import JSON
import TestSupport
import Testing

@Suite("SPiD's API gives a third party's client no more than its user allowed, with either token")
struct StrangerTests {
    @Test(
        "A third party that was allowed only openid cannot list which other apps the user has",
        arguments: Backend.available)
    func me(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.signIn()
            let stranger = try await world.stranger()
            let token = try await world.signInToRegistered(stranger, ["scope": "openid"]).require("access_token")
            let seen = try await world.api("me", token)
            #expect(seen.status == 200)
            #expect(seen.data.members?.map(\.name) == ["id", "userId", "uuid", "status"])
            let named = try await world.signInToRegistered(stranger, ["scope": "openid profile"])
            let more = try await world.api("me", try named.require("access_token")).data
            #expect(more["displayName"] == "Ada Lovelace" && more["email"] == nil && more["accounts"] == nil)
        }
    }

    @Test(
        "A third party without SPiD compatibility can neither list a user's logins nor agree for the user",
        arguments: Backend.available)
    func acting(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["terms": AgreementTests.platform]) { world in
            let stranger = try await world.stranger()
            let token = try await world.signInToRegistered(stranger, ["scope": "openid"]).require("access_token")
            let user = "user/\(world.user)"
            for path in [user, user + "/logins", user + "/agreements", "terms"] {
                let refused = try await world.api(path, token)
                #expect(refused.status == 403 && refused.data == .null, "\(path)")
                #expect(refused.spidError?.string?.contains("SPiD compatibility") == true, "\(path)")
            }
            #expect(try await world.api(user + "/agreements/accept", token, [:]).status == 403)
            let phone = try await world.signIn().require("access_token")
            let agreements = try await world.api(user + "/agreements", phone).data["agreements"]
            #expect(agreements?["platform"] == false)
            // It may leave.
            #expect(try await world.api("logout", token).status == 200)
            #expect(try await !world.isLive(token))
        }
    }

    @Test(
        "A client's own token, without SPiD compatibility, neither reads users in SPiD's API nor agrees for them",
        arguments: Backend.available)
    func own(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["terms": AgreementTests.platform]) { world in
            _ = try await world.signIn(with: world.backend)
            let token = try await world.clientToken(world.backend)
            let user = "user/\(world.user)"
            let paths = ["", "/logins", "/products", "/agreements", "/varnishId", "/required_fields", "/dataobjects"]
            for path in paths.map({ user + $0 }) + ["user/\(World.email)"] {
                let refused = try await world.api(path, token)
                #expect(refused.status == 403 && refused.data == .null, "\(path)")
                #expect(refused.spidError?.string?.contains("SPiD compatibility") == true, "\(path)")
            }
            #expect(try await world.api(user + "/agreements/accept", token, [:]).status == 403)
            #expect(try await world.api("terms", token).status == 200, "about nobody")
            let asUser = try await world.signIn(with: world.backend).require("access_token")
            let agreements = try await world.api(user + "/agreements", asUser).data["agreements"]
            #expect(agreements?["platform"] == false)
            #expect(try await world.api("logout", token).status == 200)
        }
    }

    @Test(
        "A SPiD-compatible third party sees only itself among a user's apps, and cannot agree for the user",
        arguments: Backend.available)
    func inSPiDsWays(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["terms": AgreementTests.platform]) { world in
            _ = try await world.signIn()
            let stranger = try await world.spidBackend(["first_party": false])
            let own = try await world.spidBackend()
            for (client, apps) in [(stranger, [stranger.id]), (own, [world.app.id, own.id])] {
                let token = try await world.signIn(with: client).require("access_token")
                let users = try await world.api("me", token).data["accounts"]?.members?.map(\.name)
                #expect(Set(users ?? []) == Set(apps))
                let accepted = try await world.api("user/\(world.user)/agreements/accept", token, [:])
                #expect(accepted.status == (client.id == own.id ? 200 : 403))
            }
        }
    }
}
