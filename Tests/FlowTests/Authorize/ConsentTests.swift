import JOSE
import TestSupport
import Testing

@Suite("A third party's app asks the person, not only for a password")
struct ConsentTests {
    @Test("allowed: the app gets its code", arguments: Backend.available)
    func allow(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await thirdParty(world)
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(["scope": "profile"], for: client))
            #expect(page.status == 200)
            #expect(page.body.contains("Allow access?"))
            #expect(page.body.contains("Stranger"))
            #expect(page.body.contains("See your name and profile"))
            let answer = try await browser.submit(page, ["decision": "allow"])
            #expect(answer.status == 302)
            let tokens = try await world.redeemAuthorization(try answer.requireRedirected("code"), as: client)
            #expect(tokens.json["scope"]?.string == "profile")
        }
    }

    @Test("denied: the app is told, and gets none", arguments: Backend.available)
    func deny(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await thirdParty(world)
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(for: client))
            for decision in ["deny", ""] {
                let answer = try await browser.submit(page, ["decision": decision])
                #expect(answer.redirected("error") == "access_denied")
                #expect(answer.redirected("state") == "xyz")
                #expect(answer.redirected("code") == nil)
            }
        }
    }

    @Test("nobody else can answer for the person", arguments: Backend.available)
    func forgery(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await thirdParty(world)
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(for: client))
            let attempts = [
                try await browser.submit(page, ["decision": "allow", "form_token": "guess"]),
                try await browser.submit(page, ["decision": "allow"], headers: ["Origin": "https://evil.example"]),
                try await world.server.post(
                    "/oauth/consent", ["decision": "allow", "request": page.fields["request"] ?? ""],
                    cookies: browser.cookies),
            ]
            for attempt in attempts {
                #expect(attempt.status == 403)
                #expect(attempt.header("location") == nil)
            }
        }
    }

    @Test("prompt=none cannot ask, and says so", arguments: Backend.available)
    func silent(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await thirdParty(world)
            var browser = Browser(world.server)
            try await browser.signIn()
            let answer = try await browser.open(world.authorizeAddress(["prompt": "none"], for: client))
            #expect(answer.redirected("error") == "consent_required")
        }
    }

    @Test("a consent does not outlive the sign-in it was given in", arguments: Backend.available)
    func signedOut(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await thirdParty(world)
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(for: client))
            world.server.clock.advance(by: .seconds(7200))
            let answer = try await browser.submit(page, ["decision": "allow"])
            #expect(answer.status == 200)
            #expect(answer.body.contains("Password"))
        }
    }

    @Test("the merchant's own apps ask only when they want to", arguments: Backend.available)
    func firstParty(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            #expect(try await browser.open(world.authorizeAddress()).redirected("code") != nil)
            let page = try await browser.open(world.authorizeAddress(["prompt": "consent"]))
            #expect(page.body.contains("Allow access?"))
            let denied = try await browser.submit(page, ["decision": "deny"])
            #expect(denied.redirected("error") == "access_denied")
        }
    }

    @Test("a person's token never carries administration, however it is asked for", arguments: Backend.available)
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

    private func thirdParty(_ world: World) async throws -> World.Actor {
        try await world.confidential(["client_name": "Stranger", "first_party": false])
    }
}
