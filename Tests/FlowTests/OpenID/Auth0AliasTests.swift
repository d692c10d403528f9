import JSON
import TestSupport
import Testing

@Suite("Auth0's SDKs: their paths, their JSON bodies, and logout by returnTo")
struct Auth0AliasTests {
    @Test("Auth0's JSON bodies with an audience get and revoke tokens", arguments: Backend.available)
    func tokens(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode([
                "scope": "openid profile email offline_access", "audience": "http://spindle.test/userinfo",
                "auth0Client": "eyJuYW1lIjoiYXV0aDAtc3BhLWpzIn0=",
            ])
            let answer = try await world.server.send(
                "POST", "/oauth/token",
                json: [
                    "grant_type": "authorization_code", "client_id": .string(world.app.id), "code": .string(code),
                    "code_verifier": .string(verifier), "redirect_uri": .string(world.app.redirectURI),
                ])
            #expect(answer.status == 200)
            let token = try answer.require("access_token")
            #expect(try await world.idToken(in: answer)["sub"]?.string == world.user)
            #expect(try await world.server.get("/userinfo", bearer: token).json["sub"]?.string == world.user)
            let refreshed = try await world.server.send(
                "POST", "/oauth/token",
                json: [
                    "grant_type": "refresh_token", "client_id": .string(world.app.id),
                    "refresh_token": .string(try answer.require("refresh_token")),
                    "redirect_uri": .string(world.app.redirectURI), "audience": "http://spindle.test/userinfo",
                ])
            #expect(refreshed.json["id_token"] != nil)
            let refresh = try refreshed.require("refresh_token")

            for body: JSON in [["token": 7, "client_id": .string(world.app.id)], ["token": .string(refresh)], []] {
                let refused = try await world.server.send("POST", "/oauth/revoke", json: body)
                #expect(refused.status == 400 || refused.status == 401)
            }
            let revoked = try await world.server.send(
                "POST", "/oauth/revoke", json: ["token": .string(refresh), "client_id": .string(world.app.id)])
            #expect(revoked.status == 200)
            #expect(try await world.refresh(refresh).error == "invalid_grant")
        }
    }

    @Test("Auth0's /v2/logout leads to returnTo, and Auth0's path has the keys", arguments: Backend.available)
    func logout(backend: Backend) async throws {
        try await World.with(backend) { world in
            let bye = "https://loom.example/bye"
            try await world.change("clients", world.app.id, ["post_logout_redirect_uris": [.string(bye)]])
            func path(_ target: String) -> String {
                "/v2/logout?client_id=\(world.app.id)&returnTo=\(TestServer.encode(target))&auth0Client=e30&federated"
            }
            #expect(try await world.server.get(path(bye)).header("location") == bye)
            #expect(try await world.server.get(path("https://evil.example/")).header("location") == nil)
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(path(bye))
            let out = page.status == 302 ? page : try await browser.submit(page)
            #expect(out.header("location") == bye)
            #expect(browser.session == nil)

            let keys = try await world.server.get("/.well-known/jwks.json")
            #expect(keys.body == (try await world.server.get("/oauth/jwks").body))
            for key in keys.json["keys"]?.array ?? [] {
                for member in ["kid", "alg", "use", "kty"] { #expect(key[member]?.string != nil) }
            }
        }
    }
}
