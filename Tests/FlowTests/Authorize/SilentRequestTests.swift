import Foundation
import JSON
import Storage
import TestSupport
import Testing

@Suite("A request's parameters decide how its user signs in")
struct SilentRequestTests {
    @Test("A request with prompt=none gets a code or an error that says what is missing", arguments: Backend.available)
    func neverAPage(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.stranger()
            let strict = try await world.confidential(["require_verified_email": true])
            var nobody = Browser(world.server)
            var ada = Browser(world.server)
            try await ada.signIn()
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: try await world.signIn()))")
            world.server.clock.advance(by: .seconds(10))
            let cases: [(World.Actor, KeyValuePairs<String, String>, [String?])] = [
                (world.app, ["prompt": "none"], ["login_required", nil, nil]),
                (world.app, ["prompt": "none", "max_age": "5"], Array(repeating: "login_required", count: 3)),
                (world.app, ["prompt": "none", "max_age": "0"], Array(repeating: "login_required", count: 3)),
                (stranger, ["prompt": "none"], ["login_required", "consent_required", "consent_required"]),
                (strict, ["prompt": "none"], ["login_required", "interaction_required", "interaction_required"]),
                (world.rivalBackend, ["prompt": "none"], ["login_required", "consent_required", "login_required"]),
            ]
            for (client, changes, errors) in cases {
                let address = world.authorizeAddress(changes, for: client)
                let answers = [
                    try await nobody.open(address), try await ada.open(address), try await webview.open(address),
                ]
                for (answer, error) in zip(answers, errors) {
                    #expect(answer.status == 302)
                    #expect(!answer.isPage)
                    #expect(answer.redirected("error") == error)
                    #expect((answer.redirected("code") == nil) == (error != nil))
                }
            }
        }
    }

    @Test(
        "Before consent a third party's silent request gets consent_required, whatever it asks about the user",
        arguments: Backend.available)
    func nothingBeforeConsent(backend: Backend) async throws {
        try await World.with(backend) { world in
            let bob = try await world.person("bob@example.com")
            let stranger = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            world.server.clock.advance(by: .seconds(10))
            func claims(_ member: String, _ value: String) -> String {
                "{\"id_token\":{\"\(member)\":{\"essential\":true,\"value\":\"\(value)\"}}}"
            }
            let questions: [KeyValuePairs<String, String>] = [
                ["claims": claims("sub", world.user)], ["claims": claims("sub", bob)], ["max_age": "5"],
                ["max_age": "1000"], ["claims": claims("acr", "urn:spindle:mail")],
                ["claims": claims("acr", "urn:spindle:password")],
            ]
            func answers() async throws -> [String?] {
                var answers: [String?] = []
                for question in questions {
                    let address = world.authorizeAddress(["prompt": "none", "scope": "openid"], for: stranger)
                    let more = question.map { "&\($0.key)=\(TestServer.encode($0.value))" }.joined()
                    answers.append(try await browser.open(address + more).redirected("error"))
                }
                return answers
            }
            let nothing = Array(repeating: String?.some("consent_required"), count: questions.count)
            #expect(try await answers() == nothing)
            let page = try await browser.open(world.authorizeAddress(["scope": "openid"], for: stranger))
            #expect(try await world.allow(page, in: &browser, ticking: page.boxes).redirected("code") != nil)
            #expect(try await answers() == [nil, "login_required", "login_required", nil, "login_required", nil])
            let account = try await browser.open("/account")
            _ = try await browser.submit(account, ["client": stranger.id], to: "/account/apps/revoke")
            #expect(try await answers() == nothing)
        }
    }

    @Test(
        "A request of an app that requires a verified e-mail address leads the user to verify it first",
        arguments: Backend.available)
    func verify(backend: Backend) async throws {
        try await World.with(backend) { world in
            let strict = try await world.confidential(["require_verified_email": true])
            try await world.change("users", world.user, ["email_verified": false])
            var browser = Browser(world.server)
            try await browser.signIn()
            let address = world.authorizeAddress(["state": "a&b"], for: strict)
            let sent = try await browser.open(address)
            #expect(sent.status == 303)
            let way = try #require(sent.header("location"))
            #expect(way.hasPrefix("/verify?continue="))
            #expect(try await browser.open(way).status == 200)
            try await world.change("users", world.user, ["email_verified": true])
            #expect(try await browser.open(address).redirected("code") != nil)
        }
    }

    @Test("A request with prompt=create leads to the sign-up page", arguments: Backend.available)
    func create(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            for signedIn in [false, true] {
                if signedIn { try await browser.signIn() }
                let sent = try await browser.open(world.authorizeAddress(["prompt": "create"]))
                #expect(sent.status == 303)
                let way = try #require(sent.header("location"))
                #expect(way.hasPrefix("/signup?continue="))
                #expect(try await browser.open(way).status == 200)
            }
        }
    }

    @Test("A sign-in too old for max_age is confirmed on a page that names the same user", arguments: Backend.available)
    func confirm(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            world.server.clock.advance(by: .seconds(61))
            let address = world.authorizeAddress(["max_age": "60", "login_hint": "mallory@example.com"])
            let page = try await browser.open(address)
            #expect(page.body.contains("readonly"))
            #expect(page.body.contains("value=\"\(World.email)\""))
            #expect(!page.body.contains("mallory@example.com\""))
            let hinted = try await browser.open(address + "&prompt=login")
            #expect(!hinted.body.contains("readonly"))
            #expect(hinted.body.contains("value=\"mallory@example.com\""))
        }
    }

    @Test("Pages use the request's ui_locales, then the browser's language", arguments: Backend.available)
    func language(backend: Backend) async throws {
        try await World.with(backend) { world in
            let cases: [(KeyValuePairs<String, String>, String, String)] = [
                ([:], "", "en"), (["ui_locales": "xx sv"], "de", "sv"), ([:], "nb-NO,nb;q=0.9", "no"),
                (["ui_locales": "xx"], "de-AT", "de"),
            ]
            for (changes, browsers, language) in cases {
                var browser = Browser(world.server)
                let headers = ["Accept-Language": browsers]
                let page = try await browser.open(world.authorizeAddress(changes), headers: headers)
                #expect(page.header("content-language") == language)
                let wrong = try await browser.submit(
                    page, ["email": World.email, "password": "a guess"], headers: headers)
                #expect(wrong.header("content-language") == language)
            }
        }
    }

    @Test(
        "An authorization request too long for a URL can be posted, and its whole state comes back",
        arguments: Backend.available)
    func tooLong(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let long = String(repeating: "s", count: 8200)
            // In an address it is refused; in a form it is accepted.
            #expect(try await browser.open(world.authorizeAddress(["state": long])).status == 414)
            let query = try #require(world.authorizeAddress(["state": long]).split(separator: "?").last)
            let form = query.split(separator: "&").map { pair in
                let halves = pair.split(separator: "=", maxSplits: 1).map { String($0).removingPercentEncoding ?? "" }
                return (halves[0], halves.count > 1 ? halves[1] : "")
            }
            let sent = try await world.server.post("/oauth/authorize", form: form)
            #expect(sent.status == 303)
            let page = try await browser.open(try #require(sent.header("location")))
            let signedIn = try await browser.submit(page, ["email": World.email, "password": World.password])
            let answer = try await browser.open(try #require(signedIn.header("location")))
            #expect(answer.redirected("state") == long && answer.redirected("code") != nil)
            let fits = String(repeating: "s", count: 7500)
            #expect(try await world.authorize(in: &browser, ["state": fits]).redirected("state") == fits)
        }
    }

    @Test(
        "A waiting authorization request that was posted is stored in at most 16 KiB; a longer one gets 413",
        arguments: Backend.available)
    func mostOfPosted(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = [("response_type", "code"), ("client_id", world.app.id), ("redirect_uri", world.app.redirectURI)]
            // Each byte of these is three in a query.
            for (count, status) in [(5000, 303), (5500, 413)] {
                let form = own + [("state", String(repeating: "%", count: count))]
                let answer = try await world.server.post("/oauth/authorize", form: form)
                #expect(answer.status == status)
                if status == 413 { try await expect(413, "request_too_large", answer) }
            }
            let rows = try await world.server.database.read { db in
                try db.rows("SELECT length(request) AS size FROM interactions").map {
                    try $0.get("size", as: Int64.self)
                }
            }
            #expect(rows.count == 1 && rows.allSatisfy { $0 <= 16_384 })
        }
    }
}
