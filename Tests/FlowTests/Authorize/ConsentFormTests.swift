import Directory
import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Consent is the user's own, covers what was requested, and can be revoked")
struct ConsentFormTests {
    @Test(
        "The consent page is answered only from this site, in the browser it was shown in, with a form token",
        arguments: Backend.available)
    func forgery(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(for: client))
            var attacker = Browser(world.server)
            let theirs = try await attacker.open("/login").fields["form_token"] ?? ""
            for decision in ["allow", "deny", "cancel"] {
                let attempts = [
                    try await world.answer(
                        page, in: browser, decision, ticking: ["profile"], over: ["form_token": "x"]),
                    try await world.answer(page, in: browser, decision, over: ["form_token": theirs]),
                    try await world.answer(page, in: browser, decision, headers: ["Origin": "https://evil.example"]),
                    try await world.answer(page, in: browser, decision, headers: ["Origin": "null"]),
                    try await world.answer(page, in: browser, decision, headers: ["Sec-Fetch-Site": "cross-site"]),
                    try await world.answer(page, in: Browser(world.server), decision),
                    try await world.server.post(
                        "/oauth/consent", ["decision": decision, "request": page.fields["request"] ?? ""],
                        cookies: browser.cookies),
                ]
                for attempt in attempts {
                    #expect(attempt.status == 403)
                    #expect(attempt.isPage)
                    #expect(attempt.header("location") == nil)
                }
            }
            #expect(try await world.server.get("/oauth/consent", cookies: browser.cookies).status == 303)
            #expect(try await world.consents() == 0)
        }
    }

    @Test("An edited consent form cannot allow a scope that was not requested", arguments: Backend.available)
    func tooMuch(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(["scope": "profile"], for: client))
            let answered = try await world.answer(page, in: browser, "allow", ticking: ["profile", "email", "admin"])
            let back = try #require(answered.header("location"))
            let answer = try await browser.open(back + "&scope=profile%20email")
            let tokens = try await world.redeemAuthorization(try answer.requireRedirected("code"), as: client)
            #expect(tokens.json["scope"]?.string == "profile")
            #expect(try await browser.open(world.authorizeAddress(["scope": "email"], for: client)).boxes == ["email"])
        }
    }

    @Test("A consent form sent twice changes nothing the second time", arguments: Backend.available)
    func twice(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(["scope": "profile email"], for: client))
            for _ in 1...3 {
                let answer = try await world.allow(page, in: &browser, ticking: ["profile"])
                let tokens = try await world.redeemAuthorization(try answer.requireRedirected("code"), as: client)
                #expect(tokens.json["scope"]?.string == "profile")
            }
            #expect(try await world.consents() == 1)
            let all = try await browser.open(world.authorizeAddress(["scope": "email"], for: client))
            _ = try await world.allow(all, in: &browser, ticking: ["email"])
            let late = try await world.allow(all, in: &browser, ticking: ["email"])
            #expect(late.redirected("code") != nil)
        }
    }

    @Test(
        "A consent form's answer after its session has expired stores no consent and leads to sign-in",
        arguments: Backend.available)
    func signedOut(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(["scope": "profile"], for: client))
            world.server.clock.advance(by: .seconds(7200))
            let answer = try await world.answer(page, in: browser, "allow", ticking: ["profile"])
            #expect(answer.status == 303)
            #expect(try await browser.open(try #require(answer.header("location"))).body.contains("Password"))
            #expect(try await world.consents() == 0)
        }
    }

    @Test(
        "A consent form answered after another user signed in stores nothing, and that user is asked instead",
        arguments: Backend.available)
    func anotherUser(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("grace@example.com")
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let address = world.authorizeAddress(["scope": "profile"], for: client)
            let adas = try await browser.open(address)
            let login = try await browser.open(world.authorizeAddress(["prompt": "login"]))
            _ = try await browser.submit(login, ["email": "grace@example.com", "password": World.password])
            let token = adas.fields["form_token"] ?? ""
            for token in [token, String(token.prefix { $0 != "." })] {
                let answer = try await world.answer(
                    adas, in: browser, "allow", ticking: ["profile"], over: ["form_token": token])
                #expect(answer.header("location")?.hasPrefix("/oauth/authorize?") == true)
                #expect(try await world.consents() == 0)
            }
            let answer = try await world.answer(adas, in: browser, "allow", ticking: ["profile"])
            let page = try await browser.open(try #require(answer.header("location")))
            #expect(page.body.contains("Allow access?"))
            #expect(try await world.allow(page, in: &browser, ticking: ["profile"]).redirected("code") != nil)
        }
    }

    @Test(
        "Revoking the consent to an app ends its codes and tokens, and the user is asked again",
        arguments: Backend.available)
    func revoked(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let address = world.authorizeAddress(["scope": "profile"], for: client)
            let first = try await world.allow(try await browser.open(address), in: &browser, ticking: ["profile"])
            let tokens = try await world.redeemAuthorization(try first.requireRedirected("code"), as: client)
            let second = try await browser.open(address)
            let own = try await browser.open(world.authorizeAddress())
            let apps = ConnectedApps(
                database: world.server.database, clock: world.server.clock, callbacks: .unheard, events: .unheard)
            let user = try #require(UserID(world.user))
            try await apps.revoke(Client.ID(client.id), of: user)

            #expect(
                try await world.redeemAuthorization(try second.requireRedirected("code"), as: client).error
                    == "invalid_grant")
            #expect(
                try await world.refresh(try tokens.require("refresh_token"), as: client).error == "invalid_grant")
            #expect(try await !world.isLive(try tokens.require("access_token")))
            #expect(try await browser.open(address + "&prompt=none").redirected("error") == "consent_required")
            #expect(try await browser.open(address).body.contains("Allow access?"))
            // Another app's code, and the session, live on.
            #expect(try await world.redeemAuthorization(try own.requireRedirected("code")).status == 200)
            #expect(try await browser.isSignedIn())
        }
    }

    @Test("A consent form whose authorization request is invalid gets 400", arguments: Backend.available)
    func request(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(for: client))
            let good = page.fields["request"] ?? ""
            for request in ["", "%zz", "client_id=nobody", good + "&state=two", good + "&x=" + pad(9000)] {
                for decision in ["allow", "deny", "cancel"] {
                    let answer = try await world.answer(page, in: browser, decision, over: ["request": request])
                    #expect(answer.status == 400, "\(request.prefix(80))")
                    #expect(answer.isPage)
                    #expect(answer.header("location") == nil)
                }
            }
        }
    }

    private func pad(_ count: Int) -> String { String(repeating: "x", count: count) }

    @Test(
        "A consent refused by the limit on revocations does not record acceptance of the app's terms",
        arguments: Backend.available)
    func refused(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let address = world.authorizeAddress(["scope": "profile email"], for: client)
            let first = try await browser.open(address)
            #expect(try await world.allow(first, in: &browser, ticking: first.boxes).redirected("code") != nil)
            try await world.change("clients", client.id, ["tos_uri": "https://stranger.example/terms"])
            world.server.clock.advance(by: .seconds(1))
            let page = try await browser.open(address + "&prompt=consent")
            #expect(page.fields["terms"] == "https://stranger.example/terms")
            try await world.useUpRevocations()
            let refused = try await world.answer(page, in: browser, "allow", ticking: ["email"])
            #expect(refused.status == 429 && refused.isPage, "\(refused)")
            #expect(try await agreements(world) == 0)
            world.server.clock.advance(by: .seconds(10))
            #expect(try await world.allow(page, in: &browser, ticking: ["email"]).redirected("code") != nil)
            #expect(try await agreements(world) == 1)
        }
    }

    @Test("Not ticking a scope that was never allowed is not counted as a revocation", arguments: Backend.available)
    func nothingHeld(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            try await world.useUpRevocations()
            let address = world.authorizeAddress(["scope": "profile email", "prompt": "consent"], for: client)
            for _ in 1...2 {
                let page = try await browser.open(address)
                let answer = try await world.allow(page, in: &browser, ticking: ["email"])
                #expect(answer.redirected("code") != nil, "\(answer)")
            }
            let page = try await browser.open(address)
            let taken = try await world.answer(page, in: browser, "allow", ticking: ["profile"])
            #expect(taken.status == 429, "\(taken)")
        }
    }

    @Test(
        "Consents that take back a scope are limited to fifty at once; others are unlimited and end no codes",
        arguments: Backend.available)
    func overAndOver(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(
                world.authorizeAddress(["scope": "profile email", "prompt": "consent"], for: client))
            func ticking(_ box: String) async throws -> Int {
                try await world.answer(page, in: browser, "allow", ticking: [box]).status
            }
            for _ in 1...60 { #expect(try await ticking("email") == 303) }
            #expect(try await world.count("exchange_code_ends") == 0)
            for number in 1...50 { #expect(try await ticking(number % 2 == 1 ? "profile" : "email") == 303) }
            #expect(try await ticking("profile") == 429)
            #expect(try await world.count("exchange_code_ends") == 1)
        }
    }

    @Test(
        "Consents that take back a scope from a merchant's own app are limited to fifty at once, too",
        arguments: Backend.available)
    func ownApp(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(
                world.authorizeAddress(["scope": "profile email", "prompt": "consent"]))
            #expect(page.boxes == ["profile", "email"])
            func leaveOut() async throws -> Answer {
                try await world.answer(page, in: browser, "allow", ticking: ["email"])
            }
            for _ in 1...50 { #expect(try await leaveOut().status == 303) }
            let plain = try await browser.open(world.authorizeAddress(["scope": "profile email"]))
            let code = try plain.requireRedirected("code")
            world.server.clock.advance(by: .seconds(1))
            let refused = try await leaveOut()
            #expect(refused.status == 429 && refused.isPage, "\(refused)")
            #expect(try await world.redeemAuthorization(code).status == 200)
        }
    }

    private func agreements(_ world: World) async throws -> Int {
        try await world.server.database.read { db in try db.rows("SELECT terms_uri FROM agreements").count }
    }
}
