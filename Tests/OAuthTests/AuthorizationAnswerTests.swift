import Directory
import OAuth
import Storage
import Testing
import Values

@Suite("Authorization answers")
struct AuthorizationAnswerTests {
    private static let code = Secret<AuthorizationCode>("the code")
    private static let refusal = OAuthError(.accessDenied, "denied", "No.")

    @Test("An authorization answer by query, fragment or form has code or error, state and issuer")
    func modes() async throws {
        let fixture = try await AuthorizationFixture()
        let tail = "state=a%26b%3D%22%3E%20%C3%A9%23&iss=https%3A%2F%2Fid.example%2F"
        for (mode, mark) in [("query", "?"), ("fragment", "#")] {
            let address = try await fixture.address(.own, ["response_mode": mode, "state": "a&b=\"> é#"])
            #expect(
                address.answer(code: Self.code, issuer: AuthorizationFixture.issuer)
                    == .redirect("https://app.example/back\(mark)code=the%20code&\(tail)"))
            #expect(
                address.answer(refusal: Self.refusal, issuer: AuthorizationFixture.issuer)
                    == .redirect(
                        "https://app.example/back\(mark)error=access_denied&error_description=No.&\(tail)"))
        }
        let form = try await fixture.address(.own, ["response_mode": "form_post", "state": "a&b=\"> é#"])
        guard case .form(let action, let fields) = form.answer(code: Self.code, issuer: AuthorizationFixture.issuer)
        else {
            Issue.record("no form")
            return
        }
        #expect(action == AuthorizationFixture.redirectURI)
        #expect(fields.map(\.name) == ["code", "state", "iss"])
        #expect(fields.map(\.value) == ["the code", "a&b=\"> é#", AuthorizationFixture.issuer])
        await fixture.database.close()
    }

    @Test("An unknown response_mode, or form_post to an app's own scheme, is refused by query")
    func unsupported() async throws {
        let fixture = try await AuthorizationFixture()
        let refused: [KeyValuePairs<String, String>] = [
            ["response_mode": "web_message"], ["response_mode": "FRAGMENT"], ["response_mode": "jwt"],
            ["response_mode": "form_post", "redirect_uri": "app://back"],
        ]
        for changes in refused {
            #expect(try await fixture.address(.own, changes).mode == .query)
            let error = await #expect(throws: OAuthError.self) { try await fixture.request(.own, changes) }
            #expect(error?.code == .invalidRequest)
        }
        let fragment = try await fixture.address(.own, ["response_mode": "fragment", "redirect_uri": "app://back"])
        #expect(fragment.mode == .fragment)
        await fixture.database.close()
    }

    @Test("Cancelling an authorization request leads to its cancel_redirect_uri unchanged, if it has one")
    func cancelled() async throws {
        let fixture = try await AuthorizationFixture()
        let with = try await fixture.address(
            .own, ["cancel_redirect_uri": "https://app.example/cancelled", "state": "s"])
        #expect(
            with.answer(cancelled: Self.refusal, issuer: AuthorizationFixture.issuer)
                == .redirect("https://app.example/cancelled"))
        let without = try await fixture.address(.own, [:])
        #expect(
            without.answer(cancelled: Self.refusal, issuer: AuthorizationFixture.issuer)
                == without.answer(refusal: Self.refusal, issuer: AuthorizationFixture.issuer))
        for bad in ["https://app.example/cancelled/", "https://evil.example/", "javascript:alert(1)"] {
            await #expect(throws: ReturnAddress.Refusal.self) {
                try await fixture.address(.own, ["cancel_redirect_uri": bad])
            }
        }
        await fixture.database.close()
    }

    @Test("The parameter prompt takes known values only, and its value none only alone")
    func prompts() async throws {
        let fixture = try await AuthorizationFixture()
        for bad in ["none login", "nothing", "login Consent", "none none login"] {
            await #expect(throws: OAuthError.self) { try await fixture.request(.own, ["prompt": bad]) }
        }
        #expect(try await fixture.request(.own, ["prompt": " login  consent "]).prompt == [.login, .consent])
        #expect(try await fixture.request(.own, ["prompt": "none"]).prompt == [.none])
        await fixture.database.close()
    }

    @Test("A refusal of an unregistered redirect URI names the small difference from a registered one")
    func nearMisses() throws {
        let registered = try [
            "https://app.example/back", "https://app.example:8443/cb?x=1", "app://back", "http://localhost:3000/cb",
        ].map { try #require(RedirectURI(registering: $0)) }
        let cases: [(String, RedirectURIMismatch?)] = [
            ("https://app.example/back/", .trailingSlash), ("http://app.example/back", .scheme),
            ("http://127.0.0.1:3000/cb", .loopback), ("http://[::1]:3000/cb", .loopback), ("http://127.0.0.1/cb", nil),
            ("https://app.example:443/back", .port), ("https://app.example:8444/cb?x=1", .port),
            ("https://App.example/Back", .letterCase), (" https://app.example/back\n", .whiteSpace),
            ("https://app.example/back?y=2", .query), ("https://app.example:8443/cb", .query),
            ("https://app.example/back#there", .fragment), ("app://back/", .trailingSlash), ("APP://back", .letterCase),
            ("https://evil.example/back", nil), ("https://app.example/other", nil), ("http://app.example/back/", nil),
            ("", nil), (":", nil), ("://", nil), ("?#", nil), ("https://app.example@evil.example/back", nil),
        ]
        for (text, miss) in cases { #expect(RedirectURIMismatch(text, among: registered) == miss, "\(text)") }
        #expect(RedirectURIMismatch("https://app.example/back", among: []) == nil)
    }

    @Test("A logout returns to a registered address of the named client, and nowhere else")
    func logout() async throws {
        let fixture = try await AuthorizationFixture()
        let client = try #require(try await fixture.client(.own))
        func location(_ pairs: KeyValuePairs<String, String>, _ client: Client?) throws -> String? {
            LogoutAddress(try Parameters(pairs.map { (name: $0.key, value: $0.value) }), client: client)?.location
        }
        let back = AuthorizationFixture.redirectURI
        #expect(try location(["redirect_uri": back], client) == back)
        #expect(try location(["returnTo": back, "state": "a b"], client) == back + "?state=a%20b")
        let bye = "https://app.example/bye?from=here"
        #expect(try location(["post_logout_redirect_uri": bye, "state": "s"], client) == bye + "&state=s")
        // The first parameter of a name counts: a good one after a bad one does not help.
        #expect(
            try location(["post_logout_redirect_uri": "https://evil.example/", "redirect_uri": back], client) == nil)
        #expect(try location(["redirect_uri": back], nil) == nil)
        #expect(try location(["state": "s"], client) == nil)
        for bad in [back + "/", back + "?x", back + "#x", "//app.example/back", "https://app.example\\@evil.example/"] {
            #expect(try location(["redirect_uri": bad], client) == nil, "\(bad)")
        }
        await fixture.database.close()
    }
}
