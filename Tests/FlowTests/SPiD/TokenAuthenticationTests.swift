import JSON
import TestSupport
import Testing
import Values

@Suite("SPiD's API tells whose a token is") struct TokenAuthenticationTests {
    private func path(_ token: String) -> String { "token/\(token)/authentication" }

    @Test("SPiD's API tells which client and user a live token belongs to", arguments: Backend.available)
    func whose(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn().require("access_token")
            world.server.clock.advance(by: .minutes(10))
            let answer = try await world.api(path(phone), nil)
            #expect(answer.status == 200 && answer.json["object"] == "Authorization")
            #expect(answer.data["clientId"] == .string(world.app.id) && answer.data["userId"] == .string(world.user))
            #expect(answer.data["merchantId"] == "1" && answer.data["type"] == "USER")
            #expect(answer.data["isAdmin"] == false && answer.data["expiresIn"] == 3000)
            #expect(!answer.body.contains(phone), "the token is told again")

            let backend = try await world.spidBackend()
            let own = try await world.clientToken(backend)
            let client = try await world.api(path(own) + ".json", nil)
            #expect(client.data["type"] == "CLIENT" && client.data["userId"] == .null)
            #expect(client.data["clientId"] == .string(backend.id) && client.data["isAdmin"] == false)
            try await world.change("clients", world.server.adminID, ["spid_compatible": true])
            #expect(try await world.api(path(world.admin), nil).data["isAdmin"] == true)
            #expect(try await world.api(path(world.admin), nil).data["merchantId"] == .null)
        }
    }

    @Test(
        "SPiD's API identifies no token for another resource, nor a non-SPiD client's own token",
        arguments: Backend.available)
    func closed(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            for token in [try await world.clientToken(world.backend), world.admin] {
                #expect(try await world.api(path(token), nil).status == 401)
                #expect(try await world.api("me", token).status == 401)
            }
            let resource = "https://api.elsewhere.example"
            for isSPiD in [true, false] {
                let client = try await world.confidential([
                    "resources": [.string(resource)], "spid_compatible": .bool(isSPiD),
                ])
                let form: KeyValuePairs = [
                    "grant_type": "password", "username": World.email, "password": World.password, "resource": resource,
                ]
                let foreign = try await world.token(form, as: client).require("access_token")
                let answer = try await world.api(path(foreign), nil)
                #expect(answer.status == 401 && !answer.body.contains(world.user), "SPiD: \(isSPiD)")
            }
        }
    }

    @Test(
        "SPiD's API tells whose a third party's token is only if the client is SPiD-compatible",
        arguments: Backend.available)
    func stranger(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            for isSPiD in [true, false] {
                let client = try await world.confidential(["spid_compatible": .bool(isSPiD)])
                let token = try await world.signIn(with: client).require("access_token")
                try await world.change("clients", client.id, ["first_party": false])
                let answer = try await world.api(path(token), nil)
                #expect(answer.status == (isSPiD ? 200 : 403), "\(answer)")
                #expect(answer.body.contains(world.user) == isSPiD)
            }
        }
    }

    @Test(
        "SPiD's API does not reveal a user's id to the holder of a pairwise client's token",
        arguments: Backend.available)
    func pairwise(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential(["subject_type": "pairwise"])
            let token = try await world.signIn(with: client).require("access_token")
            let answer = try await world.api(path(token), nil)
            #expect(answer.status == 403 && !answer.body.contains(world.user))
            #expect(try await world.api("me", token).status == 403)
        }
    }

    @Test(
        "Asked whose a token is, SPiD's API answers the same for revoked, expired and unknown ones",
        arguments: Backend.available)
    func invalid(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn().require("access_token")
            #expect(try await world.api(path(phone), nil).status == 200)
            #expect(try await world.api("logout", phone).data == "OK")
            let late = try await world.signIn().require("access_token")
            world.server.clock.advance(by: .hours(1))
            for token in [phone, late, "unknown", "a%2Fb"] {
                let answer = try await world.api(path(token), nil)
                #expect(answer.status == 404 && answer.spidError == "Token is invalid", "\(token)")
                #expect(answer.json["data"] == .null && !answer.body.contains(phone) && !answer.body.contains(late))
            }
            #expect(try await world.api(path("%00"), nil).status == 404)
        }
    }

    @Test("A token in a path of SPiD's API is not logged, whatever the answer")
    func log() async throws {
        try await World.with(.sqlite) { world in
            let phone = try await world.signIn().require("access_token")
            _ = try await world.api(path(phone), nil)
            _ = try await world.api("logout", phone)
            _ = try await world.api(path(phone), nil)
            _ = try await world.server.send("POST", "/api/2/" + path(phone))
            let lines = world.server.log.lines
            #expect(!lines.isEmpty && !lines.contains { $0.contains(phone) })
        }
    }

    @Test(
        "Asking SPiD's API whose a refreshed access token is ends the refresh token that was replaced",
        arguments: Backend.available)
    func confirms(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let first = try await world.signIn(scope: "offline_access email")
            let second = try await world.refresh(try first.require("refresh_token"))
            #expect(try await world.api(path(try second.require("access_token")), nil).status == 200)
            #expect(try await world.refresh(try first.require("refresh_token")).error == "invalid_grant")
        }
    }
}
