import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Sign in with Facebook")
struct FacebookSignInTests {
    /// A Spindle with Facebook's button, and a Facebook that knows Kari.
    private struct Story: Sendable {
        let here: World
        let graph: ProviderStandIn
        let issuer: String

        var callback: String { "/login/with/\(issuer)/callback" }

        /// Goes there, and comes back with a code for which Facebook gives `token`.
        func signIn(_ browser: inout Browser, token: String = "kari") async throws -> Answer {
            graph.answer("/facebook/oauth/access_token", ["access_token": .string(token), "token_type": "bearer"])
            let page = try await browser.open(here.authorizeAddress())
            let departure = try await browser.follow(try page.requireLink(to: "/login/with/\(issuer)?"))
            let location = try #require(departure.header("location"))
            try #require(location.hasPrefix("https://www.facebook.com/dialog/oauth?"))
            #expect(departure.redirected("code_challenge")?.count == 43)
            #expect(departure.redirected("client_id") == ProviderStandIn.facebookApp)
            let state = try departure.requireRedirected("state")
            return try await browser.open("\(callback)?code=c&state=\(state)")
        }

        func user(_ browser: inout Browser) async throws -> String {
            let code = try await browser.open(here.authorizeAddress()).requireRedirected("code")
            return try await here.redeemAuthorization(code).require("user_id")
        }
    }

    private static func with(
        _ backend: Backend, settings: [String: String] = [:], _ body: (Story) async throws -> Void
    ) async throws {
        let graph = try ProviderStandIn()
        let settings = graph.settings.merging(IdentityProviderStory.settings) { $1 }.merging(settings) { $1 }
        try await World.with(backend, settings: settings) { here in
            let made = try await World.make(
                here.server, here.admin, "issuers",
                [
                    "merchant_id": .string(here.merchant), "provider": "facebook", "create_users": true,
                    "audiences": [.string(ProviderStandIn.facebookApp)],
                    "client_id": .string(ProviderStandIn.facebookApp),
                    "app_secret": .string(ProviderStandIn.facebookSecret),
                ])
            try #require(made.status == 201, "\(made)")
            graph.give(
                facebook: "kari",
                ProviderStandIn.Token(
                    app: ProviderStandIn.facebookApp, subject: "1001", claims: ["name": "Kari Nordmann"]))
            graph.give(facebook: "another app's", ProviderStandIn.Token(app: "of another", subject: "1001"))
            try await body(Story(here: here, graph: graph, issuer: try made.require("id")))
        }
        graph.stop()
    }

    @Test(
        "Sign-in with Facebook uses Facebook's dialog, and asks Facebook whose access token came back",
        arguments: Backend.available)
    func story(backend: Backend) async throws {
        try await Self.with(backend) { story in
            var browser = Browser(story.here.server)
            let page = try await browser.open(story.here.authorizeAddress())
            #expect(page.words.contains("Sign in with <bdi>Facebook</bdi>"))
            let back = try await story.signIn(&browser)
            #expect(back.status == 303, "\(back)")
            let userID = try await story.user(&browser)
            #expect(try await story.here.user(userID)["name"] == "Kari Nordmann")
            // A merchant cannot imitate Facebook, so its sign-in opens the account page, and can confirm a sign-in.
            #expect(try await browser.open("/account").status == 200)
            let confirm = try await browser.open("/login?confirm=1&continue=/account")
            let way = try confirm.requireLink(to: "/login/with/\(story.issuer)?continue=%2Faccount")
            #expect(try await browser.open(way).status == 303)
        }
    }

    @Test("A Facebook address that the operator configured is used even if it is private", arguments: Backend.available)
    func privateAddress(backend: Backend) async throws {
        try await Self.with(backend, settings: ["outbound_allow_private": ""]) { story in
            var browser = Browser(story.here.server)
            let back = try await story.signIn(&browser)
            #expect(back.status == 303, "\(back)")
        }
    }

    @Test(
        "A Facebook access token that is unknown, or was given to another app, signs in no user",
        arguments: Backend.available)
    func refusals(backend: Backend) async throws {
        try await Self.with(backend) { story in
            for (token, reason) in [
                ("unknown", "upstream_mistrusted: provider_token_invalid"),
                ("another app's", "upstream_mistrusted: provider_token_of_another_app"),
            ] {
                var browser = Browser(story.here.server)
                let answer = try await story.signIn(&browser, token: token)
                #expect(answer.status == 502 && answer.isPage && browser.session == nil)
                #expect(story.here.server.log.says(reason))
            }
            var browser = Browser(story.here.server)
            story.graph.fail("/debug_token", status: "500 Oops")
            let answer = try await story.signIn(&browser)
            #expect(answer.status == 503 && answer.isPage && browser.session == nil)
        }
    }

    /// The deletion of every user who signed in with Facebook is pending.
    private static let leaving: SQL = """
        UPDATE users SET deletion_due_at = \(Timestamp(milliseconds: .max))
        WHERE id IN (SELECT user_id FROM issuer_subjects)
        """

    private static func set(_ sql: SQL, in story: Story) async throws {
        try await story.here.server.database.write { db in _ = try db.execute(sql) }
    }

    @Test(
        "Revoking a merchant's app ends a session by a confined link, and no other merchant is told",
        arguments: Backend.available)
    func revoked(backend: Backend) async throws {
        try await Self.with(backend) { story in
            let user = try #require(Int64(story.here.user))
            // As the merchant's backend attaches it (`attach_jwt`).
            try await Self.set(
                """
                INSERT INTO issuer_subjects (issuer_id, subject, user_id, is_confined, created_at)
                VALUES (\(story.issuer), \("1001"), \(user), 1, 1)
                """, in: story)
            let receiver = try CallbackReceiver()
            let rival = try await story.here.told(at: receiver, "/rival", of: story.here.rival)
            // A receiver apart, as its messages come in no order with the rival's.
            let own = try await story.here.told(at: try CallbackReceiver())
            var backend = Browser(story.here.server)
            _ = try await story.signIn(&backend)
            #expect(try await story.user(&backend) == story.here.user)
            // The session is good at its merchant alone, and only that merchant is told of its end.
            _ = try await backend.submit(try await backend.open("/logout"))
            #expect(try await own.next().gist == "session: status = ended")
            _ = try await story.signIn(&backend)
            var ada = try await story.here.signedIn()
            #expect(try await ada.change("apps/revoke", ["client": story.here.app.id]).status == 303)
            let page = try await backend.open(story.here.authorizeAddress())
            #expect(page.link(to: "/login/with/\(story.issuer)?") != nil, "no user is signed in")
            _ = try await story.signIn(&backend)
            #expect(try await story.user(&backend) != story.here.user)
            #expect(try await ada.browser.open("/account").status == 200)
            // Other merchants are told of the changed profile alone.
            try await story.here.change("users", story.here.user, ["nickname": "Ada"])
            #expect(try await rival.next().gist == "user: displayName")
        }
    }

    @Test(
        "Deleting a merchant ends the sessions that its issuers opened, also those of disabled issuers",
        arguments: Backend.available, [true, false])
    func merchantGone(backend: Backend, wasDisabled: Bool) async throws {
        try await Self.with(backend) { story in
            let (server, admin) = (story.here.server, story.here.admin)
            var browser = Browser(server)
            _ = try await story.signIn(&browser)
            #expect(try await browser.open("/account").status == 200)
            if wasDisabled {
                let path = "/admin/v1/issuers/\(story.issuer)"
                #expect(try await server.send("PATCH", path, json: ["disabled": true], bearer: admin).status == 200)
                #expect(try await browser.open("/account").status == 303)
            }
            let gone = try await server.send("DELETE", "/admin/v1/merchants/\(story.here.merchant)", bearer: admin)
            #expect(gone.status == 204)
            #expect(try await story.here.count("issuer_settings WHERE issuer_id = '\(story.issuer)'") == 0)
            #expect(try await browser.open("/account").status == 303)
        }
    }

    @Test(
        "Connecting Facebook again clears the user's removal of it at a deleted merchant",
        arguments: Backend.available)
    func connectedAgain(backend: Backend) async throws {
        try await Self.with(backend) { story in
            let here = story.here
            let user = try #require(Int64(here.user))
            try await Self.set(
                """
                INSERT INTO removed_sign_ins (user_id, merchant_id, issuer, provider, subject, created_at)
                VALUES (\(user), 'gone', 'https://www.facebook.com', 'facebook', '', 1)
                """, in: story)
            var ada = try await here.signedIn()
            let code = try await ada.browser.open(here.authorizeAddress()).requireRedirected("code")
            #expect(try await here.redeemAuthorization(code).status == 200)
            story.graph.answer("/facebook/oauth/access_token", ["access_token": "kari", "token_type": "bearer"])
            let departure = try await ada.change("links/connect", ["issuer": story.issuer])
            let state = try departure.requireRedirected("state")
            let back = try await ada.browser.open("\(story.callback)?code=c&state=\(state)")
            #expect(back.header("location") == "/account?done=connected", "\(back)")
            #expect(try await here.count("removed_sign_ins") == 0)
        }
    }

    @Test(
        "A user whose deletion is pending can keep the account by signing in with Facebook",
        arguments: Backend.available)
    func restoring(backend: Backend) async throws {
        try await Self.with(backend) { story in
            var browser = Browser(story.here.server)
            _ = try await story.signIn(&browser)
            browser.forgetSession()
            try await Self.set(Self.leaving, in: story)
            let page = try await story.signIn(&browser)
            #expect(page.status == 200 && browser.session == nil)
            #expect(page.formAction == "/account/restore")
            let kept = try await browser.submit(page, ["decision": "keep"])
            #expect(kept.words.contains("Your account is kept"))
            #expect(try await browser.isSignedIn())
        }
    }

    @Test(
        "The page to keep an account opens no session once the issuer that led to it is deleted",
        arguments: Backend.available)
    func goneMeanwhile(backend: Backend) async throws {
        try await Self.with(backend) { story in
            let here = story.here
            var browser = Browser(here.server)
            _ = try await story.signIn(&browser)
            browser.forgetSession()
            try await Self.set(Self.leaving, in: story)
            let page = try await story.signIn(&browser)
            #expect(page.formAction == "/account/restore")
            let path = "/admin/v1/issuers/\(story.issuer)"
            #expect(try await here.server.send("DELETE", path, bearer: here.admin).status == 204)
            _ = await Retention(database: here.server.database).sweep(
                only: ["goneIssuers"], at: here.server.clock.now)
            #expect(try await here.count("issuers WHERE id = '\(story.issuer)'") == 0, "forgotten")
            let kept = try await browser.submit(page, ["decision": "keep"])
            #expect(kept.status == 410 && browser.session == nil, "\(kept)")
            #expect(here.server.log.says("issuer_closed"))
            #expect(try await here.count("users WHERE deletion_due_at IS NOT NULL") == 1)
        }
    }

    @Test(
        "A sign-in by a confined link cannot stop an account's deletion, nor make a browser a known one",
        arguments: Backend.available)
    func confined(backend: Backend) async throws {
        try await Self.with(backend) { story in
            var browser = Browser(story.here.server)
            _ = try await story.signIn(&browser)
            browser.forgetSession()
            try await Self.set("UPDATE issuer_subjects SET is_confined = 1", in: story)
            try await Self.set("DELETE FROM known_devices", in: story)
            // It signs in at its merchant as before.
            #expect(try await story.signIn(&browser).status == 303)
            #expect(try await story.here.count("known_devices") == 0)
            browser.forgetSession()
            try await Self.set(Self.leaving, in: story)
            let page = try await story.signIn(&browser)
            #expect(page.status == 403 && page.words.contains("Your account will be deleted"), "\(page)")
            #expect(page.formAction == nil && browser.session == nil)
        }
    }
}
