import Cryptography
import JOSE
import JSON
import TestSupport
import Testing
import Values

@Suite("Sign in with another issuer: only its true answer is accepted")
struct IdentityProviderAnswerTests {
    @Test(
        "A link from another site to an issuer's sign-in leads to the login page, not to the issuer",
        arguments: Backend.available)
    func unasked(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let waiting = try await story.here.begin(story.here.authorizeAddress(), in: &browser)
            let address = "/login/with/\(story.issuer)?continue=\(waiting)"
            for site in ["cross-site", "same-site"] {
                let asked = try await browser.open(address, headers: ["Sec-Fetch-Site": site])
                #expect(asked.status == 303 && asked.header("location") == "/login?continue=\(waiting)", "\(asked)")
            }
            for site in ["same-origin", "none"] {
                let left = try await browser.open(address, headers: ["Sec-Fetch-Site": site])
                #expect(left.status == 303 && left.header("location")?.hasPrefix("/login") == false, "\(left)")
            }
        }
    }

    @Test("An issuer's answer with an unknown, missing or repeated state is refused", arguments: Backend.available)
    func unknownState(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let departure = try await story.leave(&browser)
            story.grant(story.claims(departure))
            let made = try await browser.open(
                "\(story.callback)?code=a-code&state=\(String(repeating: "x", count: 43))")
            story.expect(410, "state_unknown", made, browser)
            for query in [
                "code=a-code", "code=a-code&state=", "code=a&state=\(departure.state)&state=b", "state=%ff", "",
            ] {
                #expect(try await browser.open("\(story.callback)?\(query)").status == 400, "\(query)")
            }
            let long = String(repeating: "s", count: 2000)
            #expect(try await browser.open("\(story.callback)?code=a&state=\(long)").status == 400)
            #expect(story.there.redemptions.isEmpty)
            #expect(try await story.comeBack(departure, in: &browser).status == 303)
        }
    }

    @Test(
        "An issuer's answer opened in another browser signs in no user there, and stays valid in the first",
        arguments: Backend.available)
    func anotherBrowser(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var thief = Browser(story.here.server)
            let departure = try await story.leave(&thief)
            story.grant(story.claims(departure))
            // Login CSRF: the victim is sent to what the thief brought back.
            var victim = Browser(story.here.server)
            story.expect(410, "state_of_another_browser", try await story.comeBack(departure, in: &victim), victim)
            _ = try await victim.open("/login")
            story.expect(410, "state_of_another_browser", try await story.comeBack(departure, in: &victim), victim)
            #expect(story.there.redemptions.isEmpty)
            #expect(try await story.comeBack(departure, in: &thief).status == 303)
        }
    }

    @Test("An issuer's answer is accepted once, and within ten minutes", arguments: Backend.available)
    func replay(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let departure = try await story.leave(&browser)
            story.grant(story.claims(departure))
            #expect(try await story.comeBack(departure, in: &browser).status == 303)
            browser.forgetSession()
            story.expect(410, "state_spent", try await story.comeBack(departure, in: &browser), browser)

            let late = try await story.leave(&browser)
            story.grant(story.claims(late))
            story.here.server.clock.advance(by: .minutes(10))
            story.expect(410, "state_expired", try await story.comeBack(late, in: &browser), browser)
        }
    }

    @Test("Of eight concurrent deliveries of an issuer's answer only one opens a session", arguments: Backend.available)
    func race(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let departure = try await story.leave(&browser)
            story.grant(story.claims(departure))
            let visitor = browser
            let answers = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 1...8 {
                    group.addTask {
                        var browser = visitor
                        return try await story.comeBack(departure, in: &browser).status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0 == 303 } == 1, "\(answers)")
            #expect(answers.count { $0 == 410 } == 7, "\(answers)")
        }
    }

    @Test("An issuer's answer is refused when the user was sent to another issuer", arguments: Backend.available)
    func mixUp(backend: Backend) async throws {
        try await StandInStory.with(backend, document: ["authorization_response_iss_parameter_supported": true]) {
            story in
            let other = try IdentityProviderStandIn()
            let second = try await story.here.issuer(
                discoveredAt: other.origin + "/discovery",
                [.init("issuer", .string(other.issuer)), .init("sign_in_name", "Other")])
            var browser = Browser(story.here.server)
            let departure = try await story.leave(&browser)
            story.grant(story.claims(departure))
            let injected = try await browser.open("/login/with/\(second)/callback?code=a-code&state=\(departure.state)")
            story.expect(410, "state_of_another_issuer", injected, browser)
            #expect(other.redemptions.isEmpty)
            // RFC 9207: at the right address, with another issuer's `iss`, or without the `iss` that it announces.
            let named = try await story.comeBack(departure, in: &browser, "&iss=\(TestServer.encode(other.issuer))")
            story.expect(502, "upstream_mistrusted: iss", named, browser)
            let again = try await story.leave(&browser)
            story.expect(502, "upstream_mistrusted: iss", try await story.comeBack(again, in: &browser), browser)
            #expect(story.there.redemptions.isEmpty)
            let honest = try await story.leave(&browser)
            story.grant(story.claims(honest))
            let answer = try await story.comeBack(
                honest, in: &browser, "&iss=\(TestServer.encode(story.there.issuer))")
            #expect(answer.status == 303)
            other.stop()
        }
    }

    @Test(
        "A sign-in is refused if a claim of the identity provider's ID token is wrong or missing",
        arguments: Backend.available)
    func claims(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let now = story.here.server.clock.now.seconds
            let bad: [(String, KeyValuePairs<String, JSON>)] = [
                ("iss", ["iss": "https://elsewhere.example"]), ("iss", ["iss": .null]),
                ("aud", ["aud": "another-client"]), ("aud", ["aud": .null]), ("aud", ["aud": []]),
                ("aud of another", ["aud": ["spindle-here", "another-client"]]),
                ("aud of another", ["aud": ["spindle-here", "another-client"], "azp": "spindle-here"]),
                ("azp", ["azp": "another-client"]),
                ("azp", ["azp": 7]), ("exp", ["exp": .integer(now - 61)]), ("exp", ["exp": .null]),
                ("iat", ["iat": .integer(now + 600)]), ("iat", ["iat": .null]), ("nbf", ["nbf": .integer(now + 600)]),
                ("nonce", ["nonce": "another"]), ("nonce", ["nonce": .null]), ("nonce", ["nonce": ""]),
                ("at_hash", ["at_hash": "77QmUPtjPfzWtF2AnpK9RQ"]), ("at_hash", ["at_hash": 1]),
                ("sub", ["sub": .null]), ("sub", ["sub": ""]), ("sub", ["sub": "a\nb"]),
            ]
            for (claim, changes) in bad {
                let answer = try await story.signIn(&browser, changes)
                story.expect(502, "upstream_mistrusted: id_token \(claim)", answer, browser)
            }
            let hash = Base64URL.encode(Array(Digest.sha256("at".utf8).prefix(16)))
            let good = try await story.signIn(
                &browser, ["aud": ["spindle-here"], "azp": "spindle-here", "at_hash": .string(hash)])
            #expect(good.status == 303)
        }
    }

    @Test("A JWT of another type is not accepted as an ID token, whatever its claims", arguments: Backend.available)
    func otherKinds(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            for type in ["at+jwt", "AT+JWT", "application/at+jwt", "logout+jwt", "secevent+jwt", "dpop+jwt", ""] {
                let departure = try await story.leave(&browser)
                story.grant(story.claims(departure), type: type)
                story.expect(
                    502, "upstream_mistrusted: id_token typ", try await story.comeBack(departure, in: &browser), browser
                )
            }
            let logout: JSON = ["http://schemas.openid.net/event/backchannel-logout": [:]]
            let event = try await story.signIn(&browser, ["events": logout])
            story.expect(502, "upstream_mistrusted: id_token typ", event, browser)
            let departure = try await story.leave(&browser)
            story.grant(story.claims(departure), type: "application/jwt")
            #expect(try await story.comeBack(departure, in: &browser).status == 303)
        }
    }

    @Test("An issuer's authorization_endpoint at an http, private or Spindle's own address is refused")
    func authorizationEndpoint() async throws {
        for (address, reason) in [
            ("http://login.invalid/authorize", "is no address to send users to"),
            ("http://192.0.2.1/authorize", "is no address"), ("https://10.0.0.1/authorize", "is no address"),
            ("app://x/authorize", "is no address"), ("https://here.test/logout", "is ours"),
            ("HTTPS://HERE.test:443/logout", "is ours"), ("http://here.test/logout", "is ours"),
        ] {
            try await StandInStory.with(.sqlite, document: ["authorization_endpoint": .string(address)]) { story in
                var browser = Browser(story.here.server)
                let page = try await browser.open(story.here.authorizeAddress())
                let link = try page.requireLink(to: "/login/with/\(story.issuer)?")
                let answer = try await browser.follow(link)
                #expect(answer.status == 503 && answer.header("location") == nil, "\(address): \(answer)")
                #expect(story.here.server.log.says(reason), "\(address)")
            }
        }
    }

    @Test(
        "An issuer's ID token for a further audience is refused unless authorized_parties lists it and azp is given",
        arguments: Backend.available)
    func furtherAudience(backend: Backend) async throws {
        try await StandInStory.with(backend, ["authorized_parties": ["the-other-app"]]) { story in
            var browser = Browser(story.here.server)
            let both: JSON = ["spindle-here", "the-other-app"]
            let trusted = try await story.signIn(&browser, ["aud": both, "azp": "spindle-here"])
            #expect(trusted.status == 303)
            browser.forgetSession()
            let three: JSON = ["spindle-here", "the-other-app", "a-third"]
            let untrusted = try await story.signIn(&browser, ["aud": three, "azp": "spindle-here"])
            story.expect(502, "upstream_mistrusted: id_token aud of another", untrusted, browser)
            let unnamed = try await story.signIn(&browser, ["aud": both])
            story.expect(502, "upstream_mistrusted: id_token azp", unnamed, browser)
        }
    }

    @Test(
        "An ID token that is unsigned, signed by another key or with the public key as secret is refused",
        arguments: Backend.available)
    func signatures(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let forgeries: [@Sendable (JSON) -> String] = [
                { claims in story.there.sign(claims, with: .generate(.es256)) },
                { claims in
                    let parts: [JSON] = [["alg": "none"], claims]
                    return parts.map { Base64URL.encode(Array($0.text.utf8)) }.joined(separator: ".") + "."
                },
                { claims in
                    SigningClient.hs256(claims, key: Array(JSONWebKey(story.there.key).json.text.utf8))
                },
                { _ in "not.a.token" }, { _ in "" },
            ]
            for forge in forgeries {
                let departure = try await story.leave(&browser)
                story.there.publish(
                    "/token", ["access_token": "at", "id_token": .string(forge(story.claims(departure)))])
                story.expect(502, "upstream_mistrusted", try await story.comeBack(departure, in: &browser), browser)
            }
            let departure = try await story.leave(&browser)
            story.there.publish("/token", ["access_token": "at", "token_type": "Bearer"])
            let without = try await story.comeBack(departure, in: &browser)
            story.expect(502, "upstream_mistrusted: no id_token", without, browser)
        }
    }

    @Test(
        "A sign-in at an issuer begun from a typed address or a frame does not introduce the merchant",
        arguments: Backend.available)
    func unmet(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            for site in ["none", "", "same-origin in a frame"] {
                var browser = Browser(story.here.server)
                let page = try await browser.open(story.here.authorizeAddress())
                let words = site.split(separator: " ")
                let headers = [
                    "Sec-Fetch-Site": words.first.map(String.init) ?? "x",
                    "Sec-Fetch-Dest": words.count > 1 ? "iframe" : "document",
                ].filter { $0.value != "x" }
                let departure = try story.departure(
                    try await browser.open(
                        try page.requireLink(to: "/login/with/\(story.issuer)?"), headers: headers))
                story.grant(story.claims(departure, ["sub": .string("kari \(site)")]))
                let back = try await story.comeBack(departure, in: &browser)
                let next = try await browser.open(try #require(back.header("location")))
                #expect(next.status == 200 && next.words.contains("Continue as"), "\(site)")
            }
            // After our own page, which named Loom, no page asks again.
            var browser = Browser(story.here.server)
            let back = try await story.signIn(&browser)
            #expect(try await browser.open(try #require(back.header("location"))).redirected("code") != nil)
        }
    }

    @Test(
        "A sign-in by an issuer refuses a continue parameter that leads to another site or to /logout",
        arguments: Backend.available)
    func openRedirect(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let client = "client_id=\(story.here.app.id)"
            for target in [
                "https://evil.example/?\(client)", "//evil.example/?\(client)", "/\\evil.example?\(client)",
                "/oauth/authorize/../../evil?\(client)", "javascript:alert(1)?\(client)", "/logout?\(client)",
            ] {
                let answer = try await browser.open(
                    "/login/with/\(story.issuer)?continue=\(TestServer.encode(target))")
                #expect(answer.status == 404, "\(target)")
            }
            // The app's own request goes on to the app; one that names another place ends at a page.
            let departure = try await story.leave(&browser)
            story.grant(story.claims(departure))
            let back = try await story.comeBack(departure, in: &browser)
            #expect(back.header("location")?.hasPrefix("/oauth/authorize?") == true)
        }
    }
}
