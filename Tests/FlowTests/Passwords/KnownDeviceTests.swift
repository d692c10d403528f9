import JSON
import Mail
import TestSupport
import Testing

/// Mallory knows Ada's password for a while, and makes browsers known with it: any cookie will do.
@Suite("Known browsers are forgotten when the user's password or way to sign in changes")
struct KnownDeviceTests {
    private static let new = "a quieter loom at night"

    private func signIn(_ world: World, in browser: Int, password: String = World.password) async throws -> Answer {
        let page = try await world.server.get("/login")
        return try await world.server.post(
            "/login",
            [
                "form_token": page.fields["form_token"] ?? "", "email": World.email, "password": password,
            ],
            cookies: [
                "spindle_form": page.cookie("spindle_form") ?? "",
                "spindle_device": "aBrowserOfMallorysWithTheNumber\(browser)",
            ])
    }

    private func guesses(_ world: World, in browsers: ClosedRange<Int>, each count: Int) async throws -> Int {
        var answered = 0
        for browser in browsers {
            for _ in 1...count where try await signIn(world, in: browser, password: "a guess").status == 400 {
                answered += 1
            }
        }
        return answered
    }

    @Test(
        "A new password makes the throttle forget the user's known browsers but the one where it was set",
        arguments: Backend.available)
    func changed(backend: Backend) async throws {
        try await World.with(backend) { world in
            for browser in 1...12 { #expect(try await signIn(world, in: browser).status == 303) }
            var ada = try await world.signedIn()
            let done = try await ada.change(
                "password", ["current_password": World.password, "new_password": Self.new])
            #expect(done.header("location") == "/account?done=password")
            #expect(try await world.rows(of: "known_devices", about: world.user) == 2, "her address and her browser")
            // Mallory uses Ada's IP address, which is known: it has ten guesses, whatever the browser.
            #expect(try await guesses(world, in: 1...12, each: 1) == 10)
            ada.browser.forgetSession()
            #expect(try await ada.browser.signIn(password: Self.new).status == 303)
        }
    }

    @Test(
        "A password reset makes the throttle forget the user's known browsers but the one of the reset",
        arguments: Backend.available)
    func reset(backend: Backend) async throws {
        try await World.with(backend) { world in
            for browser in 1...5 { _ = try await signIn(world, in: browser) }
            var ada = BrowserUser(world)
            _ = try await ada.fill("/password", ["email": World.email])
            let link = try #require(try await world.server.mail.letter(to: World.email).link(containing: "/reset/"))
            let done = try await ada.fill(
                link.replacing("http://spindle.test", with: ""), ["password": Self.new])
            #expect(done.status == 303)
            #expect(try await world.rows(of: "known_devices", about: world.user) == 2)
        }
    }

    @Test(
        "A new password or a reset replaces the device cookie, so that a copy of the former cookie is unknown",
        arguments: Backend.available, [false, true])
    func copied(backend: Backend, isReset: Bool) async throws {
        try await World.with(backend) { world in
            var ada = try await world.signedIn()
            var thief = ada
            if isReset {
                _ = try await ada.fill("/password", ["email": World.email])
                let link = try #require(
                    try await world.server.mail.letter(to: World.email).link(containing: "/reset/"))
                let done = try await ada.fill(
                    link.replacing("http://spindle.test", with: ""), ["password": Self.new])
                #expect(done.status == 303)
            } else {
                let done = try await ada.change(
                    "password", ["current_password": World.password, "new_password": Self.new])
                #expect(done.header("location") == "/account?done=password")
            }
            #expect(try await world.rows(of: "known_devices", about: world.user) == 2, "her address and her browser")
            // Both use one IP address, whose guesses are used up.
            _ = try await guesses(world, in: 1...12, each: 1)
            thief.browser.forgetSession()
            #expect(try await thief.browser.signIn(password: "a guess").status == 429)
            ada.browser.forgetSession()
            #expect(try await ada.browser.signIn(password: Self.new).status == 303)
        }
    }

    @Test(
        "The first proof of an e-mail address makes the throttle forget the browsers known before",
        arguments: Backend.available)
    func takenOver(backend: Backend) async throws {
        try await World.with(backend) { world in
            for browser in 1...5 { _ = try await signIn(world, in: browser) }
            var ada = BrowserUser(world)
            let page = try await ada.press(
                try await ada.browser.open("/login"), action: "/login/code", ["email": World.email])
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            #expect(try await ada.browser.submit(page, ["code": code]).status == 303)
            #expect(try await world.rows(of: "known_devices", about: world.user) == 2)
        }
    }

    @Test(
        "Removing a provider's link makes the throttle forget the user's known browsers",
        arguments: Backend.available)
    func unlinked(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            let world = story.here
            try await world.link(story.issuer, "kari")
            var ada = try await world.signedIn()
            #expect(try await world.rows(of: "known_devices", about: world.user) > 0)
            let removed = try await ada.change("links/remove", ["issuer": story.issuer, "subject": "kari"])
            #expect(removed.header("location") == "/account?done=link")
            #expect(try await world.rows(of: "known_devices", about: world.user) == 0)
        }
    }

    @Test(
        "Removing a link that was confined to one merchant leaves the user's known browsers known",
        arguments: Backend.available, [false, true])
    func confinedLink(backend: Backend, byMerchant: Bool) async throws {
        try await ProviderStory.with(backend) { story in
            let world = story.world
            story.facebook("f", "1")
            let jwt = story.sign(story.claims(.attach, "facebook", "f"))
            #expect(try await story.attach(jwt, to: try await world.signIn(with: story.phone)).status == 200)
            var ada = try await world.signedIn()
            let known = try await world.rows(of: "known_devices", about: world.user)
            #expect(known > 0)
            if byMerchant {
                let administrator = try await world.clientToken(
                    try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                    scope: "admin:merchant")
                let user = "/admin/v1/users/\(world.user)"
                #expect(try await world.server.send("DELETE", user, bearer: administrator).status == 204)
            } else {
                #expect(try await ada.change("links/remove", try await ada.firstLink()).status == 303)
            }
            #expect(try await story.counts() == [1, 0])
            #expect(try await world.rows(of: "known_devices", about: world.user) == known)
        }
    }

    @Test(
        "Removing or replacing a phone number makes the throttle forget the user's known browsers and addresses",
        arguments: Backend.available, [false, true])
    func formerNumber(backend: Backend, isReplaced: Bool) async throws {
        try await PhoneStory.with(backend) { world in
            try await world.verifiesPhone()
            #expect(try await world.rows(of: "known_devices", about: world.user) == 2, "a first number forgets nothing")
            var ada = try await world.signedIn()
            if isReplaced {
                let asked = try await ada.asksForText("+4740000001")
                let done = try await ada.browser.submit(asked, ["code": try await world.textCode("+4740000001")])
                #expect(done.header("location") == "/account/phones?done=added")
            } else {
                let page = try await ada.browser.open("/account/phones")
                let removed = try await ada.press(page, action: "/account/phones/remove")
                #expect(removed.header("location") == "/account/phones?done=removed")
            }
            #expect(try await world.rows(of: "known_devices", about: world.user) == 0)
        }
    }

    @Test(
        "All known browsers of a user together have a hundred password guesses, not ten each",
        arguments: Backend.available)
    func together(backend: Backend) async throws {
        try await World.with(backend) { world in
            for browser in 1...11 { _ = try await signIn(world, in: browser) }
            #expect(try await guesses(world, in: 1...11, each: 10) == 100)
        }
    }

    @Test(
        "A user has a hundred known browsers and IP addresses at most; those unseen for longest are forgotten",
        arguments: Backend.available)
    func bound(backend: Backend) async throws {
        try await World.with(backend) { world in
            for browser in 1...105 {
                let answer = try await signIn(world, in: browser)
                #expect(answer.status == 303)
                world.server.clock.advance(by: .seconds(1))
            }
            #expect(try await world.rows(of: "known_devices", about: world.user) == 100)
            // The address is known, so eleven guesses there are too many; the latest browser has its own.
            #expect(try await guesses(world, in: 1...1, each: 11) == 10)
            #expect(try await signIn(world, in: 2, password: "a guess").status == 429, "forgotten")
            #expect(try await signIn(world, in: 105).status == 303)
        }
    }
}
