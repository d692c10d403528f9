import Directory
import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("A merchant and a user who have never met")
struct IntroductionTests {
    @Test(
        "prompt=none at a merchant that the user never met gets consent_required and no code",
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
            // Those who have met go on as they did.
            #expect(try await browser.open(world.authorizeAddress(["prompt": "none"])).redirected("code") != nil)
        }
    }

    @Test("one page names both user and merchant, and continuing there introduces them", arguments: Backend.available)
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
            // Another of the merchant's own clients is no stranger now.
            let other = try await world.confidential([:], of: world.rival)
            #expect(try await browser.open(world.authorizeAddress(for: other)).redirected("code") != nil)
        }
    }

    @Test("who continued to an app that redeems no code finds nothing to take back", arguments: Backend.available)
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

    @Test("an app that is deleted, and whose rows are not gone yet, is listed", arguments: Backend.available)
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

    @Test(
        "the introduction page cannot be answered inside a frame of the merchant's page", arguments: Backend.available)
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

    @Test("cancelling the introduction introduces nobody", arguments: Backend.available)
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

    @Test("choosing another user on the introduction page means signing in again", arguments: Backend.available)
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

    @Test("continuing as one user in an old tab does not answer for the one who is signed in by now")
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

    @Test("signing in on a page that names the merchant is the introduction", arguments: Backend.available)
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

    @Test("a sign-in on a page that does not name the merchant introduces nobody", arguments: Backend.available)
    func elsewhere(backend: Backend) async throws {
        try await World.with(backend) { world in
            let person = try await world.newcomer("grace@example.com")
            var browser = Browser(world.server)
            try await browser.signIn(as: "grace@example.com")
            #expect(try await world.introductions(of: person) == [])
            // A client that registered itself bears nobody's name.
            let stranger = try await world.register().actor
            var other = Browser(world.server)
            let page = try await other.open(world.authorizeAddress(["scope": "openid"], for: stranger))
            _ = try await other.submit(page, ["email": "grace@example.com", "password": World.password])
            #expect(try await world.introductions(of: person) == [])
        }
    }

    @Test("the password grant of a merchant's own client is the introduction", arguments: Backend.available)
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

    @Test("only the signed-in user can answer the introduction page", arguments: Backend.available)
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
            // By link nothing is answered.
            let link = try await world.server.get("/oauth/consent?decision=continue", cookies: browser.cookies)
            #expect(link.status == 303)
            #expect(try await world.introductions(of: world.user) == [world.merchant])
        }
    }

    @Test(
        "a user who signed in meanwhile in another tab is not introduced by an earlier page",
        arguments: Backend.available)
    func anotherPerson(backend: Backend) async throws {
        try await World.with(backend) { world in
            let person = try await world.newcomer("grace@example.com")
            var browser = Browser(world.server)
            try await browser.signIn()
            let adas = try await browser.open(world.authorizeAddress(for: world.rivalBackend))
            let login = try await browser.open(world.authorizeAddress(["prompt": "login"]))
            _ = try await browser.submit(login, ["email": "grace@example.com", "password": World.password])
            let page = try await browser.submit(adas, ["decision": "continue"])
            #expect(page.words.contains("Continue as <bdi>grace@example.com"))
            #expect(try await world.introductions(of: person) == [world.merchant])
            #expect(try await world.introductions(of: world.user) == [world.merchant])
        }
    }

    @Test(
        "revoking a merchant's app ends the introduction: the next silent request gets consent_required",
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
            // Loom's apps are none of Rival's.
            #expect(try await browser.open(world.authorizeAddress(["prompt": "none"])).redirected("code") != nil)
        }
    }

    @Test(
        "the platform can set skip_introduction for a merchant; the merchant cannot set it itself",
        arguments: Backend.available)
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
        "consent to a third party's app does not introduce the user to the merchant's own clients",
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
            // Asked for consent by a client of the merchant's own, the person sees both names as well.
            let asked = try await browser.open(
                world.authorizeAddress(["prompt": "consent", "scope": "profile"], for: world.rivalBackend))
            #expect(try await world.allow(asked, in: &browser, ticking: ["profile"]).redirected("code") != nil)
            #expect(try await browser.open(silent).redirected("code") != nil)
        }
    }

    @Test("a merchant's page script learns nothing of a user who was connected without an introduction")
    func script() async throws {
        try await World.with(.sqlite) { world in
            let page = try await world.confidential(
                ["web_origins": ["https://rival.example"]], of: world.rival)
            let (person, client, now) = (UserID(world.user), Client.ID(page.id), world.server.clock.now)
            try await world.server.database.write { db in
                try Connections.connect(try #require(person), to: client, at: now, in: db)
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
    /// The merchants that a person has met.
    func introductions(of person: String) async throws -> [String] {
        let user = try #require(UserID(person))
        return try await server.database.read { db in
            try db.rows("SELECT merchant_id FROM introductions WHERE user_id = \(user)").map { row in
                try row.get("merchant_id")
            }
        }
    }
}
