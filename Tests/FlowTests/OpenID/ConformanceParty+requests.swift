import JSON
import TestSupport
import Testing

// The modules of the suite that vary the authorization request.
extension ConformanceParty {
    mutating func server() async throws { try await flow() }

    mutating func responseTypeMissing() async throws {
        let answer = try await browser.open(address(["response_type": ""]))
        // Nothing says that tokens were wanted: the response is in the query, unless the request names a mode.
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

    /// The claims of a scope come from userinfo. The ID token has them only when there is no access token.
    mutating func scope(_ scope: String, _ claims: String...) async throws {
        let outcome = try await flow(["scope": "openid \(scope)"])
        for claim in claims { #expect(outcome.person?[claim] != nil, "\(claim)") }
        if type != "id_token" { for claim in claims { #expect(outcome.ids.allSatisfy { $0[claim] == nil }) } }
        if let verified = outcome.person?["email_verified"] { #expect(verified.bool != nil) }
        if let updated = outcome.person?["updated_at"] { #expect(updated.integer != nil) }
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
        #expect(outcome.person?["name"]?.string == "Ada Lovelace")
    }

    mutating func validPKCE() async throws {
        try await flow(["code_challenge": challenge, "code_challenge_method": "S256"])
    }
}
