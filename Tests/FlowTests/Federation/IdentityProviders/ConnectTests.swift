import Directory
import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@testable import Federation

@Suite("Users connect other issuers at the account page")
struct ConnectTests {
    /// A user of the app, at the account page.
    private func user(_ story: StandInStory, _ browser: inout Browser) async throws -> Answer {
        let code = try await story.here.authorize(in: &browser).requireRedirected("code")
        #expect(try await story.here.redeemAuthorization(code).status == 200)
        return try await browser.open("/account")
    }

    private func connect(_ page: Answer, _ story: StandInStory, _ browser: inout Browser) async throws -> Answer {
        try await browser.submit(page, ["issuer": story.issuer], to: "/account/links/connect")
    }

    @Test(
        "On the account page a user can connect an issuer, is told by mail, signs in with it and removes it",
        arguments: Backend.available)
    func story(backend: Backend) async throws {
        try await StandInStory.with(backend, ["create_users": false]) { story in
            var browser = Browser(story.here.server)
            let page = try await user(story, &browser)
            #expect(page.words.contains("Connect <bdi>The Mill</bdi>"))
            // Browsers apply form-action to the redirect that follows.
            #expect(page.header("content-security-policy")?.contains("form-action") == false)
            let departure = try story.departure(try await connect(page, story, &browser))
            story.grant(story.claims(departure))
            let back = try await story.comeBack(departure, in: &browser)
            #expect(back.header("location") == "/account?done=connected")
            let after = try await browser.open("/account?done=connected")
            #expect(after.words.contains("From now on you can also sign in this way."))
            #expect(!after.words.contains("Connect <bdi>The Mill</bdi>"))
            #expect(try await story.here.server.mail.letter(to: World.email).text.contains("The Mill"))

            var another = Browser(story.here.server)
            #expect(try await story.signIn(&another).status == 303)
            let code = try await another.open(story.here.authorizeAddress()).requireRedirected("code")
            #expect(try await story.here.redeemAuthorization(code).require("user_id") == story.here.user)

            let removed = try await browser.submit(
                after, ["issuer": story.issuer, "subject": "kari"], to: "/account/links/remove")
            #expect(removed.header("location") == "/account?done=link")
            #expect(try await browser.open("/account").status == 200)
            // Sessions that the issuer opened have ended.
            #expect(try await another.open(story.here.authorizeAddress()).status == 200)
            another.forgetSession()
            story.expect(403, "upstream_unknown", try await story.signIn(&another), another)
        }
    }

    @Test(
        "A removed sign-in at an issuer creates no other user, and can be connected again",
        arguments: Backend.available)
    func removed(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            let here = story.here
            var browser = Browser(here.server)
            let page = try await user(story, &browser)
            func connects(_ page: Answer) async throws -> Bool {
                let departure = try story.departure(try await connect(page, story, &browser))
                story.grant(story.claims(departure))
                let back = try await story.comeBack(departure, in: &browser)
                return back.header("location") == "/account?done=connected"
            }
            #expect(try await connects(page))
            // One sign-in is on its way, and the next begins later.
            var another = Browser(here.server)
            let underWay = try await story.leave(&another)
            let link = ["issuer": story.issuer, "subject": "kari"]
            _ = try await browser.submit(try await browser.open("/account"), link, to: "/account/links/remove")
            story.grant(story.claims(underWay))
            story.expect(409, "upstream_removed", try await story.comeBack(underWay, in: &another), another)
            let told = try await story.signIn(&another)
            story.expect(409, "upstream_removed", told, another)
            #expect(told.link(to: "/login?continue=") != nil && told.link(to: "/account") != nil)
            // Another subject there becomes a new user here.
            #expect(try await story.signIn(&another, ["sub": "ola"]).status == 303)

            // It is offered even if the user has left the app.
            try await here.server.database.write { db in _ = try db.execute("DELETE FROM connections") }
            #expect(try await connects(try await browser.open("/account")))
            another.forgetSession()
            #expect(try await story.signIn(&another).status == 303)
            let code = try await another.open(here.authorizeAddress()).requireRedirected("code")
            #expect(try await here.redeemAuthorization(code).require("user_id") == here.user)

            // The subject is free when its user is deleted.
            let id = try #require(Int64(here.user))
            _ = try await browser.submit(try await browser.open("/account"), link, to: "/account/links/remove")
            try await here.server.database.write { db in _ = try db.execute("DELETE FROM users WHERE id = \(id)") }
            another.forgetSession()
            #expect(try await story.signIn(&another).status == 303)
        }
    }

    @Test(
        "The removal of a sign-in at an issuer counts only while the issuer has a button to connect it again",
        arguments: Backend.available)
    func withoutButton(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            try await story.here.link(story.issuer, "kari")
            var browser = Browser(story.here.server)
            let link = ["issuer": story.issuer, "subject": "kari"]
            _ = try await browser.submit(try await user(story, &browser), link, to: "/account/links/remove")
            var kari = Browser(story.here.server)
            story.expect(409, "upstream_removed", try await story.signIn(&kari), kari)
            try await story.here.server.database.write { db in
                _ = try db.execute(
                    "UPDATE issuer_settings SET client_id = NULL WHERE issuer_id = \(story.issuer)")
                let isRemoved = try RemovedSignIns.contain("kari", of: TrustedIssuer.ID(story.issuer), in: db)
                #expect(!isRemoved)
            }
        }
    }

    @Test(
        "If a user removes several sign-ins at one issuer, each of them is refused afterwards",
        arguments: Backend.available)
    func several(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let page = try await user(story, &browser)
            // As an import brings them.
            for subject in ["kari", "ola"] { try await story.here.link(story.issuer, subject) }
            for subject in ["kari", "ola"] {
                _ = try await browser.submit(
                    page, ["issuer": story.issuer, "subject": subject], to: "/account/links/remove")
            }
            var another = Browser(story.here.server)
            for subject in ["kari", "ola"] {
                let told = try await story.signIn(&another, ["sub": .string(subject)])
                story.expect(409, "upstream_removed", told, another)
            }
        }
    }

    @Test(
        "After its user removes a confined link, the issuer's subject can sign in again",
        arguments: Backend.available)
    func lockedOut(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            try await story.here.link(story.issuer, "kari", isConfined: true)
            var browser = Browser(story.here.server)
            let page = try await user(story, &browser)
            _ = try await browser.submit(
                page, ["issuer": story.issuer, "subject": "kari"], to: "/account/links/remove")
            var kari = Browser(story.here.server)
            #expect(try await story.signIn(&kari).status == 303)
        }
    }

    @Test("Connecting one subject twice, after an app attached it, mails the user once", arguments: Backend.available)
    func released(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let page = try await user(story, &browser)
            let departures = [
                try story.departure(try await connect(page, story, &browser)),
                try story.departure(try await connect(page, story, &browser)),
            ]
            // An app attaches it meanwhile, with the user's token: for its merchant's applications only.
            let (issuer, user) = (story.issuer, try #require(Int64(story.here.user)))
            try await story.here.server.database.write { db in
                _ = try db.execute(
                    """
                    INSERT INTO issuer_subjects (issuer_id, subject, user_id, is_confined, created_at)
                    VALUES (\(issuer), \("kari"), \(user), 1, 1)
                    """)
            }
            for departure in departures {
                story.grant(story.claims(departure))
                let back = try await story.comeBack(departure, in: &browser)
                #expect(back.header("location") == "/account?done=connected")
            }
            #expect(try await story.here.server.mail.letter(to: World.email).text.contains("The Mill"))
            #expect(story.here.server.mail.letters.count == 1)
        }
    }

    @Test(
        "A user can connect a confined link on the account page, and only then can it confirm a sign-in",
        arguments: Backend.available)
    func confined(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            let here = story.here
            let google = try await here.google(of: here.merchant)
            try await here.link(google, "1", isConfined: true)
            try await here.link(story.issuer, "kari", isConfined: true)
            var browser = Browser(here.server)
            let page = try await user(story, &browser)
            for name in ["The Mill", "Google"] { #expect(page.words.contains("Connect <bdi>\(name)</bdi>")) }
            let confirmation = "/login?confirm=1&continue=/account"
            #expect(try await browser.open(confirmation).link(to: "/login/with/") == nil)

            let departure = try story.departure(try await connect(page, story, &browser))
            story.grant(story.claims(departure))
            #expect(try await story.comeBack(departure, in: &browser).header("location") == "/account?done=connected")
            try await here.server.database.write { db in
                _ = try db.execute("UPDATE issuer_subjects SET is_confined = 0 WHERE subject = '1'")
            }
            let after = try await browser.open("/account")
            for name in ["The Mill", "Google"] { #expect(!after.words.contains("Connect <bdi>\(name)</bdi>")) }
            #expect(try await browser.open(confirmation).link(to: "/login/with/\(google)?") != nil)
        }
    }

    @Test(
        "In a mail, a web address in the name of a merchant's issuer cannot become a link",
        arguments: Backend.available)
    func name(backend: Backend) async throws {
        let name: JSON = "https://help.example/secure now signs in. See help.example"
        try await StandInStory.with(backend, ["sign_in_name": name]) { story in
            var browser = Browser(story.here.server)
            let page = try await user(story, &browser)
            let departure = try story.departure(try await connect(page, story, &browser))
            story.grant(story.claims(departure))
            _ = try await story.comeBack(departure, in: &browser)
            let told = try await story.here.server.mail.letter(to: World.email)
            for text in [told.subject, told.text, told.html] {
                #expect(text.contains("now signs in") && !text.contains("//help") && !text.contains("help.example"))
            }
        }
    }

    @Test(
        "A form from another site, an old sign-in or an unknown issuer connects no issuer to the account",
        arguments: Backend.available)
    func refusals(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let page = try await user(story, &browser)
            let foreign = try await story.here.server.post(
                "/account/links/connect", ["issuer": story.issuer], cookies: browser.cookies)
            #expect(foreign.status == 403)
            let unknown = try await browser.submit(page, ["issuer": "none"], to: "/account/links/connect")
            #expect(unknown.status == 404)
            story.here.server.clock.advance(by: .minutes(11))
            let old = try await connect(try await browser.open("/account"), story, &browser)
            #expect(old.header("location")?.hasPrefix("/login?confirm=1") == true)
            let get = try await browser.open("/account/links/connect")
            #expect(get.header("location") == "/account")
        }
    }

    @Test(
        "An issuer is connected only to the user who began it, and only while that user stays signed in",
        arguments: Backend.available)
    func strangers(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let departure = try story.departure(try await connect(try await user(story, &browser), story, &browser))
            story.grant(story.claims(departure))
            browser.forgetSession()
            story.expect(410, "signed_out_meanwhile", try await story.comeBack(departure, in: &browser), browser)

            // Another user signs in in the same browser meanwhile.
            try await browser.signIn()
            let second = try story.departure(try await connect(try await user(story, &browser), story, &browser))
            story.grant(story.claims(second))
            _ = try await story.here.person("ole@example.com")
            browser.forgetSession()
            try await browser.signIn(as: "ole@example.com")
            #expect(try await story.comeBack(second, in: &browser).status == 410)
            let links = try await story.here.server.database.read { db in
                try db.rows("SELECT subject FROM issuer_subjects").count
            }
            #expect(links == 0)
        }
    }

    @Test("Connecting an issuer fails if the password is changed in between", arguments: Backend.available)
    func renewed(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let departure = try story.departure(try await connect(try await user(story, &browser), story, &browser))
            story.grant(story.claims(departure))
            let changed = try await browser.submit(
                try await browser.open("/account"),
                ["current_password": World.password, "new_password": "another good loom"], to: "/account/password")
            #expect(changed.header("location") == "/account?done=password")
            let back = try await story.comeBack(departure, in: &browser)
            #expect(back.status == 410 && story.here.server.log.says("signed_out_meanwhile"), "\(back)")
            #expect(try await story.here.count("issuer_subjects") == 0)
        }
    }

    @Test("Connecting an issuer fails if the user signs in again in between", arguments: Backend.available)
    func signedInAgain(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let departure = try story.departure(try await connect(try await user(story, &browser), story, &browser))
            story.grant(story.claims(departure))
            story.here.server.clock.advance(by: .seconds(1))
            let confirmed = try await browser.submit(
                try await browser.open("/login?confirm=1"), ["email": World.email, "password": World.password])
            #expect(confirmed.status == 303)
            #expect(try await story.comeBack(departure, in: &browser).status == 410)
            #expect(try await story.here.count("issuer_subjects") == 0)
        }
    }

    @Test("An issuer's subject that another user has cannot be connected", arguments: Backend.available)
    func taken(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var stranger = Browser(story.here.server)
            #expect(try await story.signIn(&stranger).status == 303)
            var browser = Browser(story.here.server)
            let departure = try story.departure(try await connect(try await user(story, &browser), story, &browser))
            story.grant(story.claims(departure))
            let answer = try await story.comeBack(departure, in: &browser)
            #expect(answer.status == 409)
            #expect(answer.words.contains("It was not connected"))
        }
    }

    /// Facebook, as `merchant` registers it.
    private static func facebook(of merchant: String, in world: World) async throws -> String {
        let made = try await World.make(
            world.server, world.admin, "issuers",
            [
                "merchant_id": .string(merchant), "provider": "facebook", "create_users": true,
                "audiences": [.string(ProviderStandIn.facebookApp)],
                "client_id": .string(ProviderStandIn.facebookApp),
                "app_secret": .string(ProviderStandIn.facebookSecret),
            ])
        try #require(made.status == 201, "\(made)")
        return try made.require("id")
    }

    @Test(
        "Connecting a provider at one merchant clears the user's removal of it at other and deleted merchants",
        arguments: Backend.available)
    func removedElsewhere(backend: Backend) async throws {
        let graph = try ProviderStandIn()
        let settings = graph.settings.merging(IdentityProviderStory.settings) { $1 }
        try await World.with(backend, settings: settings) { world in
            let here = try await Self.facebook(of: world.merchant, in: world)
            let there = try await Self.facebook(of: world.rival, in: world)
            let user = try #require(UserID(world.user))
            func isRemoved() async throws -> [Bool] {
                try await world.server.database.read { db in
                    let rivals = TrustedIssuer.ID(there)
                    return [
                        try RemovedSignIns.has(user, removed: rivals, in: db),
                        try RemovedSignIns.contain("2", of: rivals, in: db),
                    ]
                }
            }
            graph.give(
                facebook: "ada",
                ProviderStandIn.Token(app: ProviderStandIn.facebookApp, subject: "1", claims: ["name": "Ada"]))
            try await world.link(here, "1", isConfined: true)
            try await world.link(there, "2")
            var ada = try await world.signedIn()
            let code = try await ada.browser.open(world.authorizeAddress()).requireRedirected("code")
            #expect(try await world.redeemAuthorization(code).status == 200)
            let removed = try await ada.change("links/remove", ["issuer": there, "subject": "2"])
            #expect(removed.header("location") == "/account?done=link", "\(removed)")
            // And at a merchant that is gone.
            let id = try #require(Int64(world.user))
            try await world.server.database.change(
                """
                INSERT INTO removed_sign_ins (user_id, merchant_id, issuer, provider, subject, created_at)
                VALUES (\(id), 'gone', 'https://www.facebook.com', 'facebook', '', 1)
                """)
            #expect(try await isRemoved() == [true, true])

            graph.answer("/facebook/oauth/access_token", ["access_token": "ada", "token_type": "bearer"])
            let departure = try await ada.change("links/connect", ["issuer": here])
            let state = try departure.requireRedirected("state")
            let back = try await ada.browser.open("/login/with/\(here)/callback?code=c&state=\(state)")
            #expect(back.header("location") == "/account?done=connected", "\(back)")
            #expect(try await isRemoved() == [false, false])
            #expect(try await world.count("removed_sign_ins") == 0)
        }
        graph.stop()
    }
}
