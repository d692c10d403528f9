import JSON
import TestSupport
import Testing

// The modules of the suite that use codes and tokens after the authorization response.
extension ConformanceParty {
    mutating func userinfoGet() async throws { #expect(try await flow().userinfo?["sub"]?.string == world.user) }

    mutating func userinfoPostHeader() async throws {
        let token = try #require(try await flow().accessToken)
        let answer = try await world.server.post("/oauth/userinfo", [:], bearer: token)
        #expect(answer.status == 200)
        #expect(answer.json["sub"]?.string == world.user)
    }

    mutating func userinfoPostBody() async throws {
        let token = try #require(try await flow().accessToken)
        let answer = try await world.server.post("/oauth/userinfo", ["access_token": token])
        #expect(answer.status == 200)
        #expect(answer.json["sub"]?.string == world.user)
    }

    mutating func codeReuse(after wait: Duration) async throws {
        let delivery = try await authorize()
        let code = try delivery.require("code")
        let token = try await redeem(code).require("access_token")
        world.server.clock.advance(by: wait)
        let again = try await redeem(code)
        #expect(again.status == 400)
        #expect(again.error == "invalid_grant")
        #expect(try await userinfo(token).status == 401)
    }

    /// `client` is registered for client_secret_post; the credentials go in the body.
    mutating func clientSecretPost() async throws {
        let code = try await authorize().require("code")
        let tokens = try await world.server.post(
            "/oauth/token",
            [
                "grant_type": "authorization_code", "code": code, "redirect_uri": Self.callback,
                "client_id": client.id, "client_secret": client.secret,
            ])
        #expect(tokens.status == 200)
        _ = try await verified(try tokens.require("id_token"), nonce: type == "code" ? nil : "some nonce")
    }

    mutating func refreshToken() async throws {
        let outcome = try await flow(["scope": "openid offline_access"])
        let token = try #require(outcome.tokens).require("refresh_token")
        let foreign = try await world.refresh(token, as: second)
        #expect(foreign.error == "invalid_grant")
        world.server.clock.advance(by: .seconds(2))
        let refreshed = try await world.refresh(token, as: client)
        #expect(refreshed.status == 200)
        #expect(refreshed.header("cache-control") == "no-store")
        #expect(refreshed.json["token_type"]?.string == "Bearer")
        let access = try refreshed.require("access_token")
        #expect(access != outcome.accessToken)
        #expect(try await userinfo(access).status == 200)
        // Core §12.2: the same user, the same sign-in, and no nonce.
        let claims = try await verified(try refreshed.require("id_token"), nonce: nil)
        for name in ["iss", "sub", "aud", "auth_time"] { #expect(claims[name] == outcome.ids.last?[name], "\(name)") }
    }
}
