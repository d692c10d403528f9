import JOSE
import JSON
import TestSupport
import Testing

@Suite("Development mode lets a developer choose lifetime and kinds of tokens")
struct DevelopmentTokenTests {
    private static let scope = "openid email offline_access"

    private func lifetime(_ claims: JSON) throws -> Int64 {
        try #require(claims["exp"]?.integer) - #require(claims["iat"]?.integer)
    }

    @Test(
        "In development mode a chosen ID token lifetime holds when a code is redeemed and at each refresh",
        arguments: Backend.available)
    func life(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            var developer = Developer(world)
            for (typed, seconds) in [("5", 5), ("1", 1), ("2592000", 2_592_000), ("", 3600)] as [(String, Int64)] {
                let request = ["scope": Self.scope, "prompt": "login"] as KeyValuePairs
                let answer = try await developer.tokens(as: "alice", request, choosing: ["id_token_lifetime": typed])
                #expect(try lifetime(try await world.idToken(in: answer)) == seconds)
                var refreshToken = try answer.require("refresh_token")
                for _ in 1...2 {
                    world.server.clock.advance(by: .seconds(30))
                    let refreshed = try await world.refresh(refreshToken)
                    #expect(try lifetime(try await world.idToken(in: refreshed)) == seconds)
                    refreshToken = try refreshed.require("refresh_token")
                }
            }
        }
    }

    @Test(
        "In development mode a chosen ID token lifetime holds for its authorization only, refreshes included",
        arguments: Backend.available)
    func apart(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            var developer = Developer(world)
            let brief = try await developer.tokens(
                as: "alice", ["scope": Self.scope], choosing: ["id_token_lifetime": "7"])
            let longer = try await developer.tokens(
                as: "alice", ["scope": Self.scope, "prompt": "login"], choosing: ["id_token_lifetime": "70"])
            // The user is signed in: no page asks, and the lifetime is the usual one.
            let silent = try await world.redeemAuthorization(
                try await developer.browser.open(world.authorizeAddress(["scope": Self.scope, "prompt": "none"]))
                    .requireRedirected("code"))
            for (answer, seconds) in [(brief, 7), (longer, 70), (silent, 3600)] as [(Answer, Int64)] {
                let refreshed = try await world.refresh(try answer.require("refresh_token"))
                #expect(try lifetime(try await world.idToken(in: refreshed)) == seconds)
            }
        }
    }

    @Test("In development mode a developer can choose to get no refresh token", arguments: Backend.available)
    func noRefreshToken(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            var developer = Developer(world)
            let answer = try await developer.tokens(
                as: "alice", ["scope": Self.scope], choosing: ["refresh_token": ""])
            #expect(answer.status == 200)
            #expect(answer.json["refresh_token"] == nil)
            #expect(answer.json["id_token"] != nil)
        }
    }

    @Test(
        "In development mode a request's parameter can choose the ID token lifetime, also with prompt=none",
        arguments: Backend.available)
    func inTheRequest(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            var developer = Developer(world)
            let wish = world.authorizeAddress(
                ["scope": Self.scope, "development_id_token_lifetime": "9", "development_refresh_token": "0"])
            let page = try await developer.page(at: wish)
            #expect(page.body.contains("value=\"9\""))
            #expect(!page.body.contains("value=\"1\" checked"))
            _ = try await developer.submit(page, as: "alice")
            let code = try await developer.browser.open("\(wish)&prompt=none").requireRedirected("code")
            let answer = try await world.redeemAuthorization(code)
            #expect(try lifetime(try await world.idToken(in: answer)) == 9)
            #expect(answer.json["refresh_token"] == nil)
        }
    }

    @Test(
        "In development mode an invalid ID token lifetime is refused, on the page and in a request",
        arguments: Backend.available)
    func noLife(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            for text in ["0", "-1", "2592001", "1.5", "an hour", "99999999999999999999"] {
                var developer = Developer(world)
                let page = try await developer.enter(
                    as: "alice", at: world.authorizeAddress(), choosing: ["id_token_lifetime": text])
                #expect(page.status == 400 && page.body.contains("from 1 to 2592000"), "\(text)")
                #expect(developer.browser.session == nil)
                let told = try await developer.browser.open(
                    world.authorizeAddress(["development_id_token_lifetime": text]))
                #expect(told.redirected("error") == "invalid_request", "\(text)")
                #expect(told.redirected("state") == "xyz")
            }
        }
    }

    @Test(
        "In development mode front-channel ID tokens have the chosen lifetime too",
        arguments: ["id_token", "id_token token", "code id_token", "code id_token token"])
    func direct(type: String) async throws {
        try await World.with(.sqlite, isDevelopment: true) { world in
            let all = JSON.array(["code", "id_token", "id_token token", "code id_token", "code id_token token"])
            try await world.change(
                "clients", world.app.id,
                ["response_types": all, "grant_types": ["authorization_code", "refresh_token", "implicit"]])
            var developer = Developer(world)
            let answer = try await developer.enter(
                as: "alice", at: world.authorizeAddress(["scope": Self.scope, "response_type": type, "nonce": "n"]),
                choosing: ["id_token_lifetime": "11"])
            let jwt = try await world.published(try #require(answer.fragment["id_token"]))
            #expect(try lifetime(jwt.claims) == 11)
            guard let code = answer.fragment["code"] else { return }
            let tokens = try await world.redeemAuthorization(code)
            #expect(try lifetime(try await world.idToken(in: tokens)) == 11)
            #expect(tokens.json["refresh_token"] != nil)
        }
    }

    @Test(
        "Couchbase Sync Gateway can redeem a code without PKCE, and refresh, with Basic at the token endpoint",
        arguments: Backend.available)
    func syncGateway(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            let gateway = try await world.confidential([
                "redirect_uris": ["https://gateway.example/db/_oidc_callback?provider=spindle"],
                "scope": "openid email offline_access",
            ])
            var developer = Developer(world)
            let answer = try await developer.enter(
                as: "alice",
                at: world.authorizeAddress(
                    ["scope": "openid email", "code_challenge": "", "code_challenge_method": ""], for: gateway),
                choosing: ["id_token_lifetime": "20"])
            #expect(answer.header("location")?.hasPrefix("\(gateway.redirectURI)&code=") == true)
            let code = try answer.requireRedirected("code")
            let tokens = try await world.redeem(code, as: gateway)
            let first = try await world.idToken(in: tokens)
            #expect(try lifetime(first) == 20)
            for _ in 1...3 {
                let refreshed = try await world.refresh(try tokens.require("refresh_token"), as: gateway)
                let claims = try await world.idToken(in: refreshed)
                #expect(try lifetime(claims) == 20)
                #expect(claims["sub"] == first["sub"])
            }
        }
    }
}
