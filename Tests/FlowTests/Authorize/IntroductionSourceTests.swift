import JSON
import TestSupport
import Testing

@Suite("An introduction comes from a merchant's own app, and ends with it")
struct IntroductionSourceTests {
    @Test(
        "Signing in for a third party's app and then denying it consent introduces no merchant",
        arguments: Backend.available)
    func denied(backend: Backend) async throws {
        try await World.with(backend) { world in
            let third = try await world.confidential(["first_party": false], of: world.rival)
            var browser = Browser(world.server)
            let consent = try await signIn(at: third, in: &browser, world)
            let denied = try await world.answer(consent, in: browser, "deny")
            #expect(denied.redirected("error") == "access_denied")
            let account = try await browser.open("/account")
            #expect(account.status == 200 && !account.body.contains(third.id))
            try await expectStrangers(in: &browser, world)
        }
    }

    @Test(
        "Signing in for a third party's app introduces no merchant, not even once the app is revoked",
        arguments: Backend.available)
    func revoked(backend: Backend) async throws {
        try await World.with(backend) { world in
            let third = try await world.confidential(["first_party": false], of: world.rival)
            var browser = Browser(world.server)
            let consent = try await signIn(at: third, in: &browser, world)
            let allowed = try await world.allow(consent, in: &browser, ticking: consent.boxes)
            #expect(allowed.redirected("code") != nil)
            try await expectStrangers(in: &browser, world)
            try await revoke(third, in: &browser)
            try await expectStrangers(in: &browser, world)
        }
    }

    @Test(
        "Deleting the only app that introduced a user to a merchant ends the introduction",
        arguments: Backend.available)
    func deleted(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.confidential([:], of: world.rival)
            var browser = Browser(world.server)
            #expect(try await world.authorize(in: &browser, for: own).redirected("code") != nil)
            let silent = world.authorizeAddress(["prompt": "none"], for: world.rivalBackend)
            #expect(try await browser.open(silent).redirected("code") != nil)
            let path = "/admin/v1/clients/\(own.id)"
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            try await expectStrangers(in: &browser, world)
        }
    }

    @Test(
        "Revoking the only app that introduced a merchant, by now a third party's, ends the introduction",
        arguments: Backend.available)
    func estranged(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.confidential([:], of: world.rival)
            var browser = Browser(world.server)
            #expect(try await world.authorize(in: &browser, for: own).redirected("code") != nil)
            let silent = world.authorizeAddress(["prompt": "none"], for: world.rivalBackend)
            #expect(try await browser.open(silent).redirected("code") != nil)
            #expect(try await world.change("clients", own.id, ["first_party": false]).status == 200)
            try await revoke(own, in: &browser)
            try await expectStrangers(in: &browser, world)
        }
    }

    /// Signs Ada in at the page of a client of Rival's, and goes on to what comes next.
    private func signIn(at client: World.Actor, in browser: inout Browser, _ world: World) async throws -> Answer {
        let page = try await browser.open(world.authorizeAddress(["scope": "profile"], for: client))
        #expect(page.formAction == "/login" && page.body.contains("<bdi>Rival</bdi>"))
        let signedIn = try await browser.submit(page, ["email": World.email, "password": World.password])
        let consent = try await browser.open(try #require(signedIn.header("location"), "\(signedIn)"))
        #expect(consent.boxes == ["profile"], "\(consent)")
        return consent
    }

    /// Revokes `client` on the account page, which lists it.
    private func revoke(_ client: World.Actor, in browser: inout Browser) async throws {
        let account = try await browser.open("/account")
        #expect(account.body.contains(client.id))
        let revoked = try await browser.submit(account, ["client": client.id], to: "/account/apps/revoke")
        #expect(revoked.header("location") == "/account?done=app", "\(revoked)")
        let after = try await browser.open("/account")
        #expect(after.status == 200 && !after.body.contains(client.id))
    }

    /// Expects that Rival's own client does not learn silently who is signed in.
    private func expectStrangers(in browser: inout Browser, _ world: World) async throws {
        let silent = try await browser.open(world.authorizeAddress(["prompt": "none"], for: world.rivalBackend))
        #expect(silent.redirected("error") == "consent_required", "\(silent.header("location") ?? silent.body)")
        #expect(silent.redirected("code") == nil)
    }

    private static let email = "grace@example.com"
    private static let credentials = ["email": email, "password": World.password]

    @Test(
        "A login page opened before its client became first-party is out of date and introduces no merchant",
        arguments: Backend.available)
    func before(backend: Backend) async throws {
        try await World.with(backend) { world in
            let user = try await world.newcomer(Self.email)
            let client = try await world.register(["client_name": "Ravel"]).actor
            var browser = Browser(world.server)
            let page = try await browser.open(world.authorizeAddress(["scope": "openid"], for: client))
            #expect(page.formAction == "/login" && page.body.contains("Ravel") && !page.body.contains("Loom"))
            #expect(try await world.change("clients", client.id, ["first_party": true]).status == 200)
            let answer = try await browser.submit(page, Self.credentials)
            #expect(answer.status == 410 && answer.isPage, "\(answer)")
            #expect(answer.body.contains("Go back to the app and start again."))
            #expect(answer.header("location") == nil && browser.session == nil)
            #expect(try await world.introductions(of: user) == [])
        }
    }

    @Test(
        "An authorization request begun after its client became first-party introduces the merchant",
        arguments: Backend.available)
    func after(backend: Backend) async throws {
        try await World.with(backend) { world in
            let user = try await world.newcomer(Self.email)
            let client = try await world.register(["client_name": "Ravel"]).actor
            #expect(try await world.change("clients", client.id, ["first_party": true]).status == 200)
            world.server.clock.advance(by: .seconds(2))
            var browser = Browser(world.server)
            let page = try await browser.open(world.authorizeAddress(["scope": "openid"], for: client))
            #expect(page.body.contains("<bdi>Loom</bdi>"))
            let signedIn = try await browser.submit(page, Self.credentials)
            let back = try await browser.open(try #require(signedIn.header("location"), "\(signedIn)"))
            #expect(back.redirected("code") != nil, "\(back)")
            #expect(try await world.introductions(of: user) == [world.merchant])
        }
    }
}
