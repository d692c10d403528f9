import JSON
import TestSupport
import Testing

@Suite("SPiD's API logout ends what came with the token") struct ApiLogoutTests {
    @Test("A user's API logout ends token, refresh token and the sessions bought with it", arguments: Backend.available)
    func person(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn(scope: "email offline_access")
            let other = try await world.signIn(scope: "email offline_access")
            let code = try await world.sessionCode(of: phone)
            var webview = Browser(world.server)
            #expect(try await webview.open("/session/\(code)").status == 302)
            #expect(try await webview.isSignedIn())

            let token = try phone.require("access_token")
            let answer = try await world.api("logout.json", token)
            #expect(answer.status == 200 && answer.data == "OK" && answer.json["type"] == "element")
            #expect(try await !world.isLive(token))
            #expect(try await world.refresh(try phone.require("refresh_token")).error == "invalid_grant")
            #expect(try await !webview.isSignedIn())
            #expect(try await world.isLive(try other.require("access_token")), "another device was signed out")
            let again = try await world.api("logout", token)
            #expect(again.status == 401 && again.json["error"] == "invalid_token")
        }
    }

    @Test(
        "A client's own API logout ends its token, and the refresh token that SPiD gives with it",
        arguments: Backend.available)
    func client(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.spidBackend()
            let answer = try await world.token(["grant_type": "client_credentials"], as: own)
            let token = try answer.require("access_token")
            #expect(try await world.api("clients", token).status == 200)
            #expect(try await world.api("logout", token).data == "OK")
            #expect(try await world.api("clients", token).status == 401)
            #expect(try await world.refresh(try answer.require("refresh_token"), as: own).status == 400)

            // One without a refresh token ends alone.
            let (first, second) = (
                try await world.clientToken(world.backend), try await world.clientToken(world.backend)
            )
            #expect(try await world.api("logout", first).data == "OK")
            #expect(try await world.api("logout", first).status == 401)
            #expect(try await world.introspect(second, as: world.backend).json["active"] == true)
        }
    }

    @Test("An API logout without a token is refused")
    func none() async throws {
        try await World.with(.sqlite) { world in
            let answer = try await world.api("logout", nil)
            #expect(answer.status == 401 && answer.json["type"] == "OAuthException")
        }
    }
}
