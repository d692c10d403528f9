import JSON
import Storage
import TestSupport
import Testing

@Suite("A third party's app gets what its user allows on the consent page")
struct ConsentTests {
    @Test(
        "A third party's app that the user allowed gets a code, and the user is not asked again",
        arguments: Backend.available)
    func allow(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(["scope": "profile"], for: client))
            #expect(page.status == 200)
            #expect(page.isPage)
            #expect(page.body.contains("Allow access?"))
            #expect(page.body.contains("Stranger"))
            #expect(page.body.contains("Loom"))
            #expect(page.boxes == ["profile"])
            let answer = try await world.allow(page, in: &browser, ticking: ["profile"])
            #expect(answer.status == 302)
            #expect(answer.redirected("state") == "xyz")
            let tokens = try await world.redeemAuthorization(try answer.requireRedirected("code"), as: client)
            #expect(tokens.json["scope"]?.string == "profile")
            // Remembered: here, silently, and in another browser.
            let silent = world.authorizeAddress(["scope": "profile", "prompt": "none"], for: client)
            #expect(try await browser.open(silent).redirected("code") != nil)
            var elsewhere = Browser(world.server)
            #expect(
                try await world.authorize(in: &elsewhere, ["scope": "profile"], for: client).redirected("code") != nil)
        }
    }

    @Test(
        "A third party's app gets only the scopes that were ticked; the next consent page lists the others",
        arguments: Backend.available)
    func partly(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let address = world.authorizeAddress(["scope": "profile email"], for: client)
            let page = try await browser.open(address)
            #expect(page.boxes == ["profile", "email"])
            let first = try await world.allow(page, in: &browser, ticking: ["email"])
            let tokens = try await world.redeemAuthorization(try first.requireRedirected("code"), as: client)
            #expect(tokens.json["scope"]?.string == "email")
            let again = try await browser.open(address)
            #expect(again.boxes == ["profile"])
            // Continuing without it is no refusal of the other scopes.
            let without = try await world.allow(again, in: &browser, ticking: [])
            #expect(without.redirected("code") != nil)
            let with = try await world.allow(try await browser.open(address), in: &browser, ticking: ["profile"])
            let both = try await world.redeemAuthorization(try with.requireRedirected("code"), as: client)
            #expect(both.json["scope"]?.string == "profile email")
        }
    }

    @Test(
        "A consent form with no scope ticked is refused and shown again, unless openid is requested",
        arguments: Backend.available)
    func nothing(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(["scope": "profile email"], for: client))
            let refused = try await world.answer(page, in: browser, "allow")
            #expect(refused.status == 400)
            #expect(refused.body.contains("Nothing is ticked"))
            #expect(refused.boxes == ["profile", "email"])
            #expect(try await world.consents() == 0)
            let recognized = try await browser.open(world.authorizeAddress(["scope": "openid email"], for: client))
            #expect(recognized.boxes == ["openid", "email"])
            let answer = try await world.answer(recognized, in: browser, "allow", over: ["scope": ""])
            let tokens = try await world.redeemAuthorization(
                try await browser.open(try #require(answer.header("location"))).requireRedirected("code"), as: client)
            #expect(tokens.json["scope"]?.string == "openid")
        }
    }

    @Test("Another user who signs in from the consent page is asked for the same scopes", arguments: Backend.available)
    func anotherUser(backend: Backend) async throws {
        try await World.with(backend) { world in
            let grace = try await world.person("grace@example.com")
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let address = world.authorizeAddress(
                ["scope": "profile", "login_hint": World.email, "prompt": "consent"], for: client)
            let page = try await browser.open(address)
            #expect(page.body.contains("ada<wbr>@example.com"))
            let link = try #require(page.body.firstMatch(of: /<a href="([^"]+)">Not you\?/)?.output.1)
            let picker = try await browser.open(String(link.replacing("&amp;", with: "&")))
            let login = try await browser.pressAnother(on: picker)
            #expect(login.body.contains("name=\"password\""))
            #expect(!login.words.contains(World.email), "no user is filled in")
            let signedIn = try await browser.submit(
                login, ["email": "grace@example.com", "password": World.password])
            let asked = try await browser.open(try #require(signedIn.header("location")))
            #expect(asked.body.contains("grace<wbr>@example.com"))
            #expect(asked.boxes == ["profile"])
            let answer = try await world.allow(asked, in: &browser, ticking: ["profile"])
            #expect(answer.redirected("state") == "xyz")
            let tokens = try await world.redeemAuthorization(try answer.requireRedirected("code"), as: client)
            let me = try await world.server.get("/me", bearer: try tokens.require("access_token"))
            #expect(me.json["user_id"]?.string == grace)
        }
    }

    @Test(
        "A consent page sent again after its refusal leads to a new sign-in if the request had prompt=login",
        arguments: Backend.available)
    func refusedThenAllowed(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            for decision in ["deny", "cancel"] {
                let client = try await world.stranger()
                let login = try await browser.open(
                    world.authorizeAddress(["scope": "profile", "prompt": "login"], for: client))
                let signedIn = try await browser.submit(login, ["email": World.email, "password": World.password])
                let page = try await browser.open(try #require(signedIn.header("location")))
                #expect(page.boxes == ["profile"])
                let refused = try await world.answer(page, in: browser, decision)
                #expect(refused.redirected("error") == "access_denied")
                let back = try await world.allow(page, in: &browser, ticking: ["profile"])
                #expect(back.formAction == "/login" && back.redirected("code") == nil, "\(back)")
            }
        }
    }

    @Test(
        "An app whose user denies the consent gets access_denied and no code, and may ask again",
        arguments: Backend.available)
    func deny(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(for: client))
            for decision in ["deny", "", "allow!", "deny"] {
                let answer = try await world.answer(page, in: browser, decision, ticking: ["profile"])
                #expect(answer.redirected("error") == "access_denied")
                #expect(answer.redirected("state") == "xyz")
                #expect(answer.redirected("code") == nil)
            }
            #expect(try await world.consents() == 0)
            #expect(try await browser.open(world.authorizeAddress(for: client)).body.contains("Allow access?"))
        }
    }

    @Test(
        "An authorization request with prompt=none and without consent gets consent_required",
        arguments: Backend.available)
    func silent(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let answer = try await browser.open(world.authorizeAddress(["prompt": "none"], for: client))
            #expect(answer.redirected("error") == "consent_required")
        }
    }

    @Test(
        "An authorization request with prompt=consent asks again; a scope no longer ticked is revoked",
        arguments: Backend.available)
    func again(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let address = world.authorizeAddress(["scope": "profile email"], for: client)
            _ = try await world.allow(try await browser.open(address), in: &browser, ticking: ["profile", "email"])
            let page = try await browser.open(address + "&prompt=consent")
            #expect(page.boxes == ["profile", "email"])
            let answered = try await world.answer(page, in: browser, "allow", ticking: ["email"])
            #expect(answered.header("location")?.contains("prompt") == false)
            let answer = try await browser.open(try #require(answered.header("location")))
            let tokens = try await world.redeemAuthorization(try answer.requireRedirected("code"), as: client)
            #expect(tokens.json["scope"]?.string == "email")
            #expect(try await browser.open(address).boxes == ["profile"])
        }
    }

    @Test(
        "A merchant's own app gets the consent page only if its request has prompt=consent",
        arguments: Backend.available)
    func firstParty(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            #expect(try await browser.open(world.authorizeAddress()).redirected("code") != nil)
            let address = world.authorizeAddress(["prompt": "consent", "scope": "profile email"])
            let page = try await browser.open(address)
            #expect(page.body.contains("Allow access?"))
            let denied = try await world.answer(page, in: browser, "deny")
            #expect(denied.redirected("error") == "access_denied")
            let allowed = try await world.allow(page, in: &browser, ticking: ["profile"])
            let tokens = try await world.redeemAuthorization(try allowed.requireRedirected("code"))
            #expect(tokens.json["scope"]?.string == "profile")
            #expect(try await browser.open(address).boxes == ["profile", "email"])
        }
    }

    @Test("A token for a user never has an admin scope", arguments: Backend.available)
    func administration(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential(["scope": "profile admin:merchant"])
            let byPassword = try await world.signIn(scope: "profile admin:merchant", with: client)
            #expect(byPassword.error == "invalid_scope")
            #expect(try await world.signIn(with: client).json["scope"]?.string == "profile")
            let asked = try await world.server.get(world.authorizeAddress(["scope": "admin:merchant"], for: client))
            #expect(asked.redirected("error") == "invalid_scope")
            let tokens = try await world.redeemAuthorization(
                try await world.authorizationCode(for: client), as: client)
            #expect(tokens.json["scope"]?.string == "profile")
            let phone = try await world.signIn()
            let code = try await world.exchange(try phone.require("access_token"), for: client).require("code")
            #expect(try await world.redeem(code, as: client).json["scope"]?.string == "profile")
            let refreshed = try await world.refresh(
                try tokens.require("refresh_token"), as: client, scope: "admin:merchant")
            #expect(refreshed.error == "invalid_scope")
        }
    }
}
