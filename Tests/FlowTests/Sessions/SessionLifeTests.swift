import JSON
import TestSupport
import Testing
import Values

@Suite("How long sessions live")
struct SessionLifeTests {
    @Test("A bought session ends with the device's logout", arguments: Backend.available)
    func deviceLogout(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            var webview = try await webview(of: phone, world)
            #expect(try await webview.isSignedIn())
            #expect(try await world.server.get("/logout", bearer: try phone.require("access_token")).status == 200)
            #expect(try await !webview.isSignedIn())
            let asked = try await webview.open(world.authorizeAddress(["prompt": "none"]))
            #expect(asked.redirected("error") == "login_required")
        }
    }

    @Test("A bought session ends with the revocation of the phone's refresh token", arguments: Backend.available)
    func revocation(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            var webview = try await webview(of: phone, world)
            _ = try await world.server.post(
                "/oauth/revoke", ["token": try phone.require("refresh_token"), "client_id": world.app.id])
            #expect(try await !webview.isSignedIn())
        }
    }

    @Test("A bought session ends with a new password and when the user is disabled", arguments: Backend.available)
    func person(backend: Backend) async throws {
        try await World.with(backend) { world in
            var first = try await webview(of: try await world.signIn(), world)
            #expect(try await first.isSignedIn())
            try await world.change("users", world.user, ["password": .string("\(World.password) again")])
            #expect(try await !first.isSignedIn())

            let phone = try await world.signIn(password: "\(World.password) again")
            var second = try await webview(of: phone, world)
            try await world.change("users", world.user, ["disabled": true])
            #expect(try await !second.isSignedIn())
        }
    }

    @Test("A bought session never satisfies prompt=login", arguments: Backend.available)
    func promptLogin(backend: Backend) async throws {
        try await World.with(backend) { world in
            var webview = try await webview(of: try await world.signIn(), world)
            for prompt in ["login", "login select_account", "login consent"] {
                let page = try await webview.open(world.authorizeAddress(["prompt": prompt]))
                #expect(page.status == 200, "\(prompt)")
                #expect(page.body.contains("Password"))
                #expect(page.header("location") == nil)
            }
        }
    }

    @Test("A bought session keeps the phone's sign-in time, so that max_age is right", arguments: Backend.available)
    func signInTime(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            world.server.clock.advance(by: .seconds(600))
            var webview = try await webview(of: phone, world)
            let stale = try await webview.open(world.authorizeAddress(["max_age": "599", "prompt": "none"]))
            #expect(stale.redirected("error") == "login_required")
            let fresh = try await webview.open(world.authorizeAddress(["max_age": "600", "prompt": "none"]))
            #expect(fresh.redirected("code") != nil)
        }
    }

    @Test("A refresh does not make the sign-in more recent", arguments: Backend.available)
    func refreshed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            world.server.clock.advance(by: .seconds(1000))
            let later = try await world.refresh(try phone.require("refresh_token"))
            var webview = try await webview(of: later, world)
            let asked = try await webview.open(world.authorizeAddress(["max_age": "300", "prompt": "none"]))
            #expect(asked.redirected("error") == "login_required")
        }
    }

    @Test("A session ends after two hours without use", arguments: Backend.available)
    func idle(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            for _ in 1...3 {
                world.server.clock.advance(by: .seconds(7200) - .milliseconds(1))
                #expect(try await browser.isSignedIn())
            }
            world.server.clock.advance(by: .seconds(7200))
            #expect(try await !browser.isSignedIn())
        }
    }

    @Test("A session in steady use ends after seven days, to the millisecond", arguments: Backend.available)
    func longest(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            var webview = try await webview(of: phone, world)
            var browser = Browser(world.server)
            try await browser.signIn()
            var left: Duration = .days(7) - .milliseconds(1)
            while left > .zero {
                let pause = min(left, .minutes(119))
                world.server.clock.advance(by: pause)
                left -= pause
                #expect(try await browser.isSignedIn(), "\(left) before its end")
                #expect(try await webview.isSignedIn(), "\(left) before its end")
            }
            world.server.clock.advance(by: .milliseconds(1))
            #expect(try await !browser.isSignedIn())
            #expect(try await !webview.isSignedIn())
        }
    }

    private func webview(of phone: Answer, _ world: World) async throws -> Browser {
        var webview = Browser(world.server)
        _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phone))")
        return webview
    }
}
