import Directory
import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("A merchant learns who a user is only after an introduction")
struct IntroductionTests {
    @Test(
        "A prompt=none request gets consent_required if the user was not introduced to the client's merchant",
        arguments: Backend.available)
    func taken(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let silent = world.authorizeAddress(["prompt": "none"], for: world.rivalBackend)
            for address in [silent, silent + "&max_age=1", silent + "&scope=profile"] {
                let answer = try await browser.open(address)
                #expect(answer.redirected("error") == "consent_required")
                #expect(answer.redirected("code") == nil)
            }
            // Nor without prompt=none.
            let page = try await browser.open(world.authorizeAddress(for: world.rivalBackend))
            #expect(page.status == 200 && page.isPage)
            #expect(page.header("location") == nil)
            // A merchant that the user has met gets a code as before.
            #expect(try await browser.open(world.authorizeAddress(["prompt": "none"])).redirected("code") != nil)
        }
    }

    @Test(
        "Continuing on the page that names user and merchant introduces the user to the merchant",
        arguments: Backend.available)
    func introduced(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let address = world.authorizeAddress(["state": "a&b"], for: world.rivalBackend)
            let page = try await browser.open(address)
            #expect(page.body.contains("<bdi>Rival</bdi>"))
            #expect(page.words.contains("Continue as <bdi>\(World.email)"))
            #expect(page.words.contains("Use another account"))
            #expect(page.header("content-security-policy")?.contains("frame-ancestors 'none'") == true)
            let answered = try await browser.submit(page, ["decision": "continue"])
            #expect(answered.status == 303)
            let back = try await browser.open(try #require(answered.header("location")))
            #expect(back.redirected("code") != nil && back.redirected("state") == "a&b")
            #expect(try await browser.open(address).redirected("code") != nil)
            #expect(try await browser.open(address + "&prompt=none").redirected("code") != nil)
            // The merchant's other own clients are introduced, too.
            let other = try await world.confidential([:], of: world.rival)
            #expect(try await browser.open(world.authorizeAddress(for: other)).redirected("code") != nil)
        }
    }

    @Test("A user can revoke an app that redeemed no code", arguments: Backend.available)
    func unredeemed(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let address = world.authorizeAddress(for: world.rivalBackend)
            let page = try await browser.open(address)
            _ = try await browser.submit(page, ["decision": "continue"])
            let account = try await browser.open("/account")
            _ = try await browser.submit(account, ["client": world.rivalBackend.id], to: "/account/apps/revoke")
            let silent = try await browser.open(address + "&prompt=none")
            #expect(silent.redirected("error") == "consent_required", "\(silent)")
        }
    }

    @Test("An app whose deletion has begun is not listed on the account page", arguments: Backend.available)
    func deleted(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode()
            #expect(try await world.redeemAuthorization(code).status == 200)
            var browser = Browser(world.server)
            try await browser.signIn()
            #expect(try await browser.open("/account").body.contains(world.app.id))
            try await world.server.database.write { db in
                _ = try db.execute("UPDATE clients SET deleted_at = 1, disabled_at = 1 WHERE id = \(world.app.id)")
            }
            #expect(try await !browser.open("/account").body.contains(world.app.id))
        }
    }

    @Test("The introduction page cannot be framed by the merchant's page", arguments: Backend.available)
    func framed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential(["web_origins": ["https://rival.example"]], of: world.rival)
            var browser = Browser(world.server)
            try await browser.signIn()
            for changes in [[:], ["prompt": "consent", "scope": "profile"]] as [KeyValuePairs<String, String>] {
                let page = try await browser.open(world.authorizeAddress(changes, for: client))
                #expect(page.header("content-security-policy")?.contains("frame-ancestors 'none'") == true)
                #expect(page.header("x-frame-options") == "DENY")
            }
        }
    }

    @Test("Cancelling on the introduction page introduces no merchant", arguments: Backend.available)
    func cancelled(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let address = world.authorizeAddress(for: world.rivalBackend)
            let answer = try await browser.submit(try await browser.open(address), ["decision": "cancel"])
            #expect(answer.redirected("error") == "access_denied")
            #expect(try await browser.open(address + "&prompt=none").redirected("error") == "consent_required")
        }
    }

    @Test("Choosing another user on the introduction page means signing in again", arguments: Backend.available)
    func another(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.newcomer("grace@example.com")
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(for: world.rivalBackend))
            let picker = try await browser.open(try page.requireLink(to: "/oauth/authorize?"))
            let login = try await browser.pressAnother(on: picker)
            let answered = try await browser.submit(
                login, ["email": "grace@example.com", "password": World.password])
            let back = try await browser.open(try #require(answered.header("location")))
            let tokens = try await world.redeemAuthorization(
                try back.requireRedirected("code"), as: world.rivalBackend)
            #expect(tokens.status == 200)
            // Ada, whose page it was, has still not met Rival.
            #expect(try await world.introductions(of: world.user) == [world.merchant])
        }
    }

    @Test("An introduction page left open in an old tab cannot answer for a user who has signed in since")
    func oldTab() async throws {
        try await World.with(.sqlite) { world in
            let other = try await world.newcomer("grace@example.com")
            let address = world.authorizeAddress(for: world.rivalBackend)
            // Grace knows Rival already: nothing else would ask her.
            var before = Browser(world.server)
            let login = try await before.open(address)
            let met = try await before.submit(
                login, ["email": "grace@example.com", "password": World.password])
            #expect(try await before.open(try #require(met.header("location"))).redirected("code") != nil)
            #expect(try await world.introductions(of: other).contains(world.rival))

            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(address)
            let another = try await browser.open(world.authorizeAddress(["prompt": "login"]))
            _ = try await browser.submit(another, ["email": "grace@example.com", "password": World.password])
            let asked = try await browser.submit(page, ["decision": "continue"])
            #expect(asked.redirected("code") == nil)
            #expect(asked.words.contains("grace@example.com"))
            #expect(!asked.words.contains("ada@example.com"))
            #expect(try await world.introductions(of: world.user) == [world.merchant])
            let answered = try await browser.submit(asked, ["decision": "continue"])
            let back = try await browser.open(try #require(answered.header("location")))
            #expect(back.redirected("code") != nil)
        }
    }

    @Test(
        "A sign-in or sign-up on a page that names the merchant counts as the introduction to it",
        arguments: Backend.available)
    func signedIn(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let back = try await world.authorize(in: &browser, for: world.rivalBackend)
            #expect(back.redirected("code") != nil)
            #expect(try await world.introductions(of: world.user).contains(world.rival))

            var newcomer = BrowserUser(world)
            let page = try await newcomer.signUp(
                "new@example.com", continueTo: world.authorizeAddress(for: world.rivalBackend))
            let code = try #require(try await world.server.mail.letter(to: "new@example.com").code)
            let done = try await newcomer.browser.submit(page, ["code": code])
            let answer = try await newcomer.browser.open(try #require(done.header("location")))
            #expect(answer.redirected("code") != nil)
        }
    }

    @Test("A sign-in on a page that does not name a merchant introduces none", arguments: Backend.available)
    func elsewhere(backend: Backend) async throws {
        try await World.with(backend) { world in
            let grace = try await world.newcomer("grace@example.com")
            var browser = Browser(world.server)
            try await browser.signIn(as: "grace@example.com")
            #expect(try await world.introductions(of: grace) == [])
            // A self-registered client's page names no merchant.
            let stranger = try await world.register().actor
            var other = Browser(world.server)
            let page = try await other.open(world.authorizeAddress(["scope": "openid"], for: stranger))
            _ = try await other.submit(page, ["email": "grace@example.com", "password": World.password])
            #expect(try await world.introductions(of: grace) == [])
        }
    }

    @Test(
        "The password grant of a merchant's own client counts as the introduction to the merchant",
        arguments: Backend.available)
    func passwordGrant(backend: Backend) async throws {
        try await World.with(backend) { world in
            #expect(try await world.signIn(with: world.rivalBackend, password: "wrong").status == 400)
            #expect(try await !world.introductions(of: world.user).contains(world.rival))
            #expect(try await world.signIn(with: world.rivalBackend).status == 200)
            var browser = Browser(world.server)
            try await browser.signIn()
            let silent = world.authorizeAddress(["prompt": "none"], for: world.rivalBackend)
            #expect(try await browser.open(silent).redirected("code") != nil)
        }
    }

    @Test("Only the signed-in user can answer the introduction page", arguments: Backend.available)
    func forged(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(for: world.rivalBackend))
            let go = ["decision": "continue"]
            var attacker = Browser(world.server)
            let theirs = try await attacker.open("/login").fields["form_token"] ?? ""
            let attempts = [
                try await browser.submit(page, go.merging(["form_token": "x"]) { $1 }),
                try await browser.submit(page, go.merging(["form_token": theirs]) { $1 }),
                try await browser.submit(page, go, headers: ["Origin": "https://evil.example"]),
                try await browser.submit(page, go, headers: ["Sec-Fetch-Site": "cross-site"]),
                try await attacker.submit(page, go),
            ]
            for attempt in attempts {
                #expect(attempt.status == 403)
                #expect(attempt.header("location") == nil)
            }
            // A GET answers nothing.
            let link = try await world.server.get("/oauth/consent?decision=continue", cookies: browser.cookies)
            #expect(link.status == 303)
            #expect(try await world.introductions(of: world.user) == [world.merchant])
        }
    }

    @Test(
        "An introduction page opened for one user does not introduce a user who has signed in since",
        arguments: Backend.available)
    func anotherUser(backend: Backend) async throws {
        try await World.with(backend) { world in
            let grace = try await world.newcomer("grace@example.com")
            var browser = Browser(world.server)
            try await browser.signIn()
            let adas = try await browser.open(world.authorizeAddress(for: world.rivalBackend))
            let login = try await browser.open(world.authorizeAddress(["prompt": "login"]))
            _ = try await browser.submit(login, ["email": "grace@example.com", "password": World.password])
            let page = try await browser.submit(adas, ["decision": "continue"])
            #expect(page.words.contains("Continue as <bdi>grace@example.com"))
            #expect(try await world.introductions(of: grace) == [world.merchant])
            #expect(try await world.introductions(of: world.user) == [world.merchant])
        }
    }

    @Test(
        "Revoking a merchant's app ends the introduction, so a prompt=none request gets consent_required",
        arguments: Backend.available)
    func revoked(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let code = try await world.authorize(in: &browser, for: world.rivalBackend).requireRedirected("code")
            _ = try await world.redeemAuthorization(code, as: world.rivalBackend)
            let address = world.authorizeAddress(["prompt": "none"], for: world.rivalBackend)
            let onTheWay = try await browser.open(address).requireRedirected("code")
            let apps = ConnectedApps(
                database: world.server.database, clock: world.server.clock, callbacks: .unheard, events: .unheard)
            try await apps.revoke(Client.ID(world.rivalBackend.id), of: try #require(UserID(world.user)))
            #expect(try await browser.open(address).redirected("error") == "consent_required")
            let late = try await world.redeemAuthorization(onTheWay, as: world.rivalBackend)
            #expect(late.error == "invalid_grant")
            // Loom's apps are not affected.
            #expect(try await browser.open(world.authorizeAddress(["prompt": "none"])).redirected("code") != nil)
        }
    }

    @Test("Only the platform can set skip_introduction for a merchant", arguments: Backend.available)
    func spared(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await World.client(
                world.server, world.admin,
                [
                    "merchant_id": .string(world.rival), "client_name": "Rival's", "scope": "admin:merchant",
                    "grant_types": ["client_credentials"],
                ])
            let token = try await world.clientToken(own, scope: "admin:merchant")
            let path = "/admin/v1/merchants/\(world.rival)"
            for value in [true, false] as [JSON] {
                let answer = try await world.server.send(
                    "PATCH", path, json: ["skip_introduction": value], bearer: token)
                expectProblem(answer, 403)
            }
            var browser = Browser(world.server)
            try await browser.signIn()
            let silent = world.authorizeAddress(["prompt": "none"], for: world.rivalBackend)
            #expect(try await browser.open(silent).redirected("error") == "consent_required")
            let changed = try await world.change("merchants", world.rival, ["skip_introduction": true])
            #expect(changed.json["skip_introduction"]?.bool == true)
            #expect(try await browser.open(silent).redirected("code") != nil)
            try await world.change("merchants", world.rival, ["skip_introduction": false])
            #expect(try await browser.open(silent).redirected("error") == "consent_required")
        }
    }

    @Test(
        "Consent to a third party's app does not introduce the user to the merchant's own clients",
        arguments: Backend.available)
    func thirdParty(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.confidential(["first_party": false], of: world.rival)
            var browser = Browser(world.server)
            try await browser.signIn()
            let consent = try await browser.open(world.authorizeAddress(["scope": "profile"], for: stranger))
            #expect(consent.boxes == ["profile"])
            let back = try await world.allow(consent, in: &browser, ticking: ["profile"])
            #expect(back.redirected("code") != nil)
            let silent = world.authorizeAddress(["prompt": "none"], for: world.rivalBackend)
            #expect(try await browser.open(silent).redirected("error") == "consent_required")
            // The consent page of a merchant's own client names both, too.
            let asked = try await browser.open(
                world.authorizeAddress(["prompt": "consent", "scope": "profile"], for: world.rivalBackend))
            #expect(try await world.allow(asked, in: &browser, ticking: ["profile"]).redirected("code") != nil)
            #expect(try await browser.open(silent).redirected("code") != nil)
        }
    }

    @Test("hasSession.js tells a merchant's page nothing of a user who was connected without an introduction")
    func script() async throws {
        try await World.with(.sqlite) { world in
            let page = try await world.confidential(
                ["web_origins": ["https://rival.example"]], of: world.rival)
            let (user, client, now) = (UserID(world.user), Client.ID(page.id), world.server.clock.now)
            try await world.server.database.write { db in
                try Connections.connect(try #require(user), to: client, at: now, in: db)
            }
            var browser = Browser(world.server)
            try await browser.signIn()
            let path = "/ajax/hasSession.js?client_id=\(page.id)&callback=tell"
            let headers = ["Referer": "https://rival.example/"]
            let told = try await browser.open(path, headers: headers)
            #expect(told.status == 200 && told.body.contains("notConnected"), "\(told)")
            #expect(!told.body.contains(world.user) && !told.body.contains("Ada"))
            try await world.introduce(world.user, to: world.rival)
            #expect(try await browser.open(path, headers: headers).body.contains("Ada"))
        }
    }
}

extension World {
    /// The merchants that a user has met.
    func introductions(of id: String) async throws -> [String] {
        let user = try #require(UserID(id))
        return try await server.database.read { db in
            try db.rows("SELECT merchant_id FROM introductions WHERE user_id = \(user)").map { row in
                try row.get("merchant_id")
            }
        }
    }
}
