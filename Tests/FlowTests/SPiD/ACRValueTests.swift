import JSON
import TestSupport
import Testing
import Values

@Suite("The acr_values that SPiD's clients send") struct ACRValueTests {
    /// A browser in which Ada is signed in and has used `client`.
    private func browser(_ world: World, _ client: World.Actor) async throws -> Browser {
        var browser = Browser(world.server)
        _ = try await world.authorize(in: &browser, ["scope": "openid"], for: client).requireRedirected("code")
        return browser
    }

    private func client(_ world: World) async throws -> World.Actor {
        try await world.confidential(["spid_compatible": true, "scope": "openid profile email"])
    }

    @Test(
        "The acr value password asks a SPiD client's user for the password once more, then gives a code",
        arguments: Backend.available)
    func password(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await client(world)
            var browser = try await browser(world, client)
            for values in ["password", "otp password", "eid-no password sms"] {
                world.server.clock.advance(by: .seconds(5))
                let address = world.authorizeAddress(["scope": "openid", "acr_values": values], for: client)
                let page = try await browser.open(address)
                #expect(page.status == 200 && page.body.contains("type=\"password\""), "\(values)")
                let silent = try await browser.open(address + "&prompt=none")
                #expect(silent.redirected("error") == "login_required")
                let signedIn = try await browser.submit(page, ["email": World.email, "password": World.password])
                let back = try await browser.open(try #require(signedIn.header("location")))
                let tokens = try await world.redeemAuthorization(try back.requireRedirected("code"), as: client)
                let claims = try await world.idToken(in: tokens)
                #expect(claims["auth_time"]?.integer == world.server.clock.now.seconds)
                #expect(claims["acr"] == "urn:spindle:password")
            }
        }
    }

    @Test(
        "The acr value otp-email asks for a mailed code unless the user signed in with one",
        arguments: Backend.available)
    func mailedCode(backend: Backend) async throws {
        try await World.with(backend) { world in
            // The first proof of an address would remove the password.
            try await world.change("users", world.user, ["email_verified": true])
            let client = try await client(world)
            var browser = try await browser(world, client)
            let address = world.authorizeAddress(["scope": "openid", "acr_values": "otp-email"], for: client)
            let page = try await browser.open(address)
            #expect(page.status == 200 && page.formAction == "/login")
            let asked = try await browser.submit(page, ["email": World.email], to: "/login/code")
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            let signedIn = try await browser.submit(asked, ["code": code])
            let back = try await browser.open(try #require(signedIn.header("location")))
            let tokens = try await world.redeemAuthorization(try back.requireRedirected("code"), as: client)
            #expect(try await world.idToken(in: tokens)["acr"] == "urn:spindle:mail")
            // A user who signed in with a code is not asked. The value is voluntary: prompt=none gets an answer.
            #expect(try await browser.open(address).redirected("code") != nil)
            var another = try await self.browser(world, client)
            #expect(try await another.open(address + "&prompt=none").redirected("code") != nil)
        }
    }

    @Test(
        "Where the acr value otp-email asks for a mailed code, a sign-in by password is accepted too",
        arguments: Backend.available)
    func otherwise(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await client(world)
            var browser = try await browser(world, client)
            let page = try await browser.open(
                world.authorizeAddress(["scope": "openid", "acr_values": "otp-email"], for: client))
            let signedIn = try await browser.submit(page, ["email": World.email, "password": World.password])
            #expect(try await browser.open(try #require(signedIn.header("location"))).redirected("code") != nil)
        }
    }

    @Test(
        "The acr values of second factors ask for nothing; SPiD's acr values count at SPiD clients only",
        arguments: Backend.available)
    func nothing(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await client(world)
            var browser = try await browser(world, client)
            for values in ["otp", "sms", "eid-no", "otp sms eid-se", "Password", "passwords", "%20", "1"] {
                let address = world.authorizeAddress(["scope": "openid", "acr_values": values], for: client)
                #expect(try await browser.open(address).redirected("code") != nil, "\(values)")
            }
            let plain = try await world.confidential(["scope": "openid profile"])
            _ = try await world.authorize(in: &browser, ["scope": "openid"], for: plain)
            for values in ["password", "otp-email", "otp"] {
                let address = world.authorizeAddress(["scope": "openid", "acr_values": values], for: plain)
                #expect(try await browser.open(address).redirected("code") != nil, "\(values)")
            }
        }
    }
}
