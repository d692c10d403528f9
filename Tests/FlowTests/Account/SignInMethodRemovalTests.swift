import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@Suite("Changing a phone number or an address ends what codes sent to the former one opened")
struct SignInMethodRemovalTests {
    enum Way: CaseIterable { case removed, replaced, byAdministration }

    /// What a sign-in by text message brings: the app's tokens, its backend's and a web view.
    private func byText(_ app: TextApp) async throws -> (phone: Answer, backend: Answer, webView: BrowserUser) {
        let world = app.world
        let started = try await app.start().require("passwordless_token")
        let phone = try await app.redeem(started, try await world.textCode(), scope: "openid profile")
        let token = try phone.require("access_token")
        let code = try await world.exchange(token, for: world.backend).require("code")
        let session = try await world.exchange(
            token, for: app.client, type: "session", redirectURI: app.client.redirectURI
        ).require("code")
        var webView = BrowserUser(world)
        _ = try await webView.browser.open("/auth/session/\(session)")
        return (phone, try await world.redeem(code, as: world.backend), webView)
    }

    private func byMail(_ world: World) async throws -> BrowserUser {
        var user = BrowserUser(world)
        let asked = try await user.press(
            try await user.browser.open("/login"), action: "/login/code", ["email": World.email])
        let code = try #require(try await world.server.mail.letter(to: World.email).code)
        let done = try await user.browser.submit(asked, ["code": code])
        try #require(done.status == 303, "\(done)")
        return user
    }

    /// The tokens that a backend redeems with a code of the app, to which the browser's user signs in.
    private func bought(in user: inout BrowserUser) async throws -> Answer {
        let world = user.world
        let code = try await user.browser.open(world.authorizeAddress()).requireRedirected("code")
        let tokens = try await world.redeemAuthorization(code)
        return try await world.redeem(try await world.code(of: tokens), as: world.backend)
    }

    /// Moves to another address.
    private func moves(_ user: inout BrowserUser) async throws {
        let asked = try await user.browser.submit(
            try await user.browser.open("/account"),
            ["email": AddressTests.new, "current_password": World.password], to: "/account/email")
        let mailed = try #require(try await user.world.server.mail.letter(to: AddressTests.new).code)
        let done = try await user.browser.submit(asked, ["code": mailed])
        #expect(done.header("location") == "/account?done=email")
    }

    /// Deletes the token families of `client`, as the sweep does a week after their end.
    private func forget(_ client: World.Actor, in world: World) async throws {
        try await world.server.database.write { db in
            _ = try db.execute("DELETE FROM token_families WHERE client_id = \(client.id)")
        }
    }

    @Test(
        "Removing, replacing or unverifying a phone number ends sessions and tokens of its text sign-ins",
        arguments: Backend.available, Way.allCases)
    func number(backend: Backend, way: Way) async throws {
        try await PhoneStory.with(backend) { world in
            try await world.verifiesPhone()
            let app = try await TextApp(world)
            var opened = try await byText(app)
            let byPassword = try await world.signIn().require("access_token")
            var visitor = try await world.signedIn()
            let tokens = [try opened.phone.require("access_token"), try opened.backend.require("access_token")]
            // The same number, verified again, ends nothing.
            try await world.verifiesPhone()
            for token in tokens { #expect(try await world.isLive(token)) }
            #expect(try await opened.webView.isSignedIn())
            switch way {
            case .removed:
                let page = try await visitor.browser.open("/account/phones")
                let removed = try await visitor.press(page, action: "/account/phones/remove")
                #expect(removed.header("location") == "/account/phones?done=removed")
            case .replaced: try await world.verifiesPhone("+4740000001")
            case .byAdministration: try await world.change("users", world.user, ["phone_number_verified": false])
            }
            for token in tokens { #expect(try await world.server.get("/me", bearer: token).status == 401) }
            let refused = try await world.refresh(try opened.phone.require("refresh_token"), as: app.client)
            #expect(refused.status == 400 && refused.body.contains("invalid_grant"), "\(refused)")
            #expect(try await !opened.webView.isSignedIn())
            #expect(try await world.isLive(byPassword))
            #expect(try await visitor.isSignedIn())
        }
    }

    @Test(
        "A new e-mail address ends other sessions and tokens got by codes mailed to the former address",
        arguments: Backend.available)
    func address(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("users", world.user, ["email_verified": true])
            var old = try await byMail(world)
            let code = try await old.browser.open(world.authorizeAddress()).requireRedirected("code")
            let tokens = try await world.redeemAuthorization(code)
            var elsewhere = try await world.signedIn()
            let phone = try await world.signIn().require("access_token")

            var visitor = try await byMail(world)
            try await moves(&visitor)

            #expect(try await !old.isSignedIn())
            #expect(try await !world.isLive(try tokens.require("access_token")))
            #expect(try await world.refresh(try tokens.require("refresh_token")).error == "invalid_grant")
            #expect(try await visitor.isSignedIn(), "the one that changed it goes on")
            #expect(try await elsewhere.isSignedIn(), "no code opened it")
            #expect(try await world.isLive(phone))
        }
    }

    @Test(
        "Removing a phone number ends backends' tokens of its text sign-ins, even when the app's were swept",
        arguments: Backend.available)
    func forgottenNumber(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            try await world.verifiesPhone()
            let app = try await TextApp(world)
            let lost = try await byText(app).backend
            try await forget(app.client, in: world)
            #expect(try await world.isLive(try lost.require("access_token")))
            var visitor = try await world.signedIn()
            let page = try await visitor.browser.open("/account/phones")
            let removed = try await visitor.press(page, action: "/account/phones/remove")
            #expect(removed.header("location") == "/account/phones?done=removed")
            #expect(try await !world.isLive(try lost.require("access_token")))
            let refreshed = try await world.refresh(try lost.require("refresh_token"), as: world.backend)
            #expect(refreshed.error == "invalid_grant", "\(refreshed)")
        }
    }

    @Test(
        "A new e-mail address ends backends' tokens from codes to the former one, not the current session's",
        arguments: Backend.available)
    func forgottenMailbox(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("users", world.user, ["email_verified": true])
            var old = try await byMail(world)
            let lost = try await bought(in: &old)
            try await forget(world.app, in: world)
            var visitor = try await byMail(world)
            let kept = try await bought(in: &visitor)
            for tokens in [lost, kept] { #expect(try await world.isLive(try tokens.require("access_token"))) }
            try await moves(&visitor)
            #expect(try await !world.isLive(try lost.require("access_token")))
            let refreshed = try await world.refresh(try lost.require("refresh_token"), as: world.backend)
            #expect(refreshed.error == "invalid_grant", "\(refreshed)")
            #expect(try await visitor.isSignedIn())
            #expect(try await world.isLive(try kept.require("access_token")))
            #expect(try await world.refresh(try kept.require("refresh_token"), as: world.backend).status == 200)
        }
    }
}
