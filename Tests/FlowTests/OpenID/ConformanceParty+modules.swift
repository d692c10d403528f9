import JSON
import TestSupport
import Testing

// The modules of the suite that vary the authorization request.
extension ConformanceParty {
    mutating func server() async throws { try await flow() }

    mutating func responseTypeMissing() async throws {
        let answer = try await browser.open(address(["response_type": ""]))
        // Without a response_type the response is in the query, unless the request names a mode.
        if mode == "form_post" {
            #expect(answer.fields["error"] == "invalid_request")
        } else {
            #expect(answer.header("location")?.hasPrefix(Self.callback + "?error=invalid_request&") == true)
        }
    }

    /// Without a registered algorithm it is RS256; `verified` accepts no other.
    mutating func idTokenSignature() async throws { try await flow() }

    mutating func requestWithoutNonceSucceeds() async throws {
        let outcome = try await flow(["nonce": ""])
        #expect(outcome.ids.allSatisfy { $0["nonce"] == nil })
    }

    mutating func requestWithoutNonceFails() async throws {
        expectRefusal(try await authorize(["nonce": ""]), "invalid_request")
    }

    /// The claims of a scope come from userinfo, and in ID tokens from the token endpoint. One through the browser has
    /// them only when there is no access token.
    mutating func scope(_ scope: String, _ claims: String...) async throws {
        let outcome = try await flow(["scope": "openid \(scope)"])
        for claim in claims { #expect(outcome.user?[claim] != nil, "\(claim)") }
        let inBrowser = type.contains("id_token") ? 1 : 0
        for claim in claims {
            #expect(outcome.ids.prefix(inBrowser).allSatisfy { ($0[claim] != nil) == (type == "id_token") })
            #expect(outcome.ids.dropFirst(inBrowser).allSatisfy { $0[claim] != nil })
        }
        if let verified = outcome.user?["email_verified"] { #expect(verified.bool != nil) }
        if let updated = outcome.user?["updated_at"] { #expect(updated.integer != nil) }
    }

    mutating func scopeAll() async throws {
        try await scope("address email phone profile", "email", "email_verified", "name", "updated_at")
    }

    mutating func alternateHappyFlow() async throws {
        let turned = parameters(["scope": "email openid"]).reversed()
        let query = turned.map { "\($0.0)=\(TestServer.encode($0.1))" }.joined(separator: "&")
        let page = try await browser.open("/oauth/authorize?\(query)")
        _ = try await check(try await finish(page))
    }

    mutating func display(_ display: String) async throws { try await flow(["display": display]) }

    mutating func unknownParameter() async throws { try await flow(["extra": "foobar"]) }

    mutating func loginHint() async throws {
        let page = try await browser.open(address(["login_hint": "buffy@suite.example"]))
        #expect(page.body.contains("value=\"buffy@suite.example\""))
        _ = try await check(try await finish(page))
    }

    mutating func uiLocales() async throws {
        let page = try await browser.open(address(["ui_locales": "xx sv"]))
        #expect(page.header("content-language") == "sv")
        _ = try await check(try await finish(page))
    }

    mutating func claimsLocales() async throws { try await flow(["claims_locales": "se"]) }

    mutating func acrValues() async throws {
        let metadata = try await world.server.get("/.well-known/openid-configuration").json
        let values = try #require(metadata["acr_values_supported"]?.strings)
        let outcome = try await flow(["acr_values": values.joined(separator: " ")])
        #expect(outcome.ids.allSatisfy { values.contains($0["acr"]?.string ?? "") })
    }

    mutating func registeredRedirectURI() async throws {
        let page = try await browser.open(address(["redirect_uri": Self.callback + "/other"]))
        #expect(page.status == 400)
        #expect(page.isPage)
        #expect(page.header("location") == nil)
        #expect(page.body.contains("The address to return to is not registered"))
    }

    mutating func postRequest() async throws {
        let moved = try await world.server.post("/oauth/authorize", form: parameters())
        #expect(moved.status == 303)
        let page = try await browser.open(try #require(moved.header("location")))
        _ = try await check(try await finish(page))
    }

    mutating func claimsEssential() async throws {
        let place = type == "id_token" ? "id_token" : "userinfo"
        let outcome = try await flow(["claims": "{\"\(place)\":{\"name\":{\"essential\":true}}}"])
        #expect(outcome.user?["name"]?.string == "Ada Lovelace")
    }

    mutating func validPKCE() async throws {
        try await flow(["code_challenge": challenge, "code_challenge_method": "S256"])
    }
}

// The modules of the suite that go to the authorization endpoint twice.
extension ConformanceParty {
    mutating func promptLogin() async throws {
        let first = try await flow()
        world.server.clock.advance(by: .seconds(2))
        let page = try await browser.open(address(["prompt": "login"]))
        #expect(page.formAction == "/login")
        try expectLater(try await check(try await finish(page)), first)
    }

    mutating func promptNoneNotLoggedIn() async throws {
        let answer = try await browser.open(address(["prompt": "none"]))
        expectRefusal(
            try deliver(answer), "login_required", "interaction_required", "account_selection_required",
            "consent_required")
    }

    mutating func promptNoneLoggedIn() async throws {
        let first = try await flow()
        world.server.clock.advance(by: .seconds(2))
        try expectSame(try await silent(["prompt": "none"]), first)
    }

    mutating func maxAge1() async throws {
        let first = try await flow()
        world.server.clock.advance(by: .seconds(2))
        let page = try await browser.open(address(["max_age": "1"]))
        #expect(page.formAction == "/login")
        try expectLater(try await check(try await finish(page)), first)
    }

    mutating func maxAge10000() async throws {
        let first = try await flow(["max_age": "15000"])
        world.server.clock.advance(by: .seconds(2))
        try expectSame(try await silent(["max_age": "10000"]), first)
    }

    mutating func idTokenHint() async throws {
        let first = try await authorize()
        let outcome = try await check(first)
        let token = try first["id_token"] ?? outcome.tokens?.require("id_token") ?? ""
        world.server.clock.advance(by: .seconds(2))
        try expectSame(try await silent(["prompt": "none", "id_token_hint": token]), outcome)
    }

    /// A flow in which the user is asked nothing.
    private func silent(_ changes: KeyValuePairs<String, String>) async throws -> Outcome {
        var silent = self
        let answer = try await silent.browser.open(address(changes))
        return try await check(try deliver(answer, changes), changes)
    }

    private func expectSame(_ second: Outcome, _ first: Outcome) throws {
        for claim in ["sub", "auth_time"] {
            #expect(second.ids.first?[claim] != nil)
            #expect(second.ids.first?[claim] == first.ids.first?[claim], "\(claim)")
        }
    }

    private func expectLater(_ second: Outcome, _ first: Outcome) throws {
        #expect(second.ids.first?["sub"] == first.ids.first?["sub"])
        let times = try [first, second].map { try #require($0.ids.first?["auth_time"]?.integer) }
        #expect(times[0] < times[1])
    }
}

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
