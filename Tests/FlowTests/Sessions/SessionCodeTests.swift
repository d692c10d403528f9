import JSON
import TestSupport
import Testing

@Suite("Session codes: what spends them, whom they sign in, and where they lead")
struct SessionCodeTests {
    @Test(
        "Spent, expired and unknown session codes get a page, no cookie and no redirect", arguments: Backend.available)
    func dead(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let spent = try await world.sessionCode(of: phone)
            _ = try await world.server.get("/auth/session/\(spent)")
            let late = try await world.sessionCode(of: phone)
            #expect(try await world.server.get("/auth/session/\(spent)").status == 410)
            world.server.clock.advance(by: .seconds(60))
            for (code, status) in [(spent, 410), (late, 410), ("unknown", 404), ("%00", 404), ("a%20b", 404)] {
                let page = try await world.server.get("/auth/session/\(code)")
                #expect(page.status == status, "\(code)")
                #expect(page.isPage)
                #expect(page.header("set-cookie") == nil)
                #expect(page.header("location") == nil)
                #expect(page.header("cache-control") == "no-store")
            }
        }
    }

    @Test(
        "A session code opened twice is refused the second time, and the first session lives on",
        arguments: Backend.available)
    func replay(backend: Backend) async throws {
        try await World.with(backend) { world in
            var webview = Browser(world.server)
            let code = try await world.sessionCode(of: try await world.signIn())
            _ = try await webview.open("/auth/session/\(code)")
            #expect(try await world.server.get("/auth/session/\(code)").status == 410)
            #expect(try await webview.isSignedIn())
        }
    }

    @Test("A frame, image or script on another page does not spend a session code", arguments: Backend.available)
    func embedded(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            for destination in ["iframe", "image", "script", "empty", "embed", "object"] {
                let refused = try await world.server.get(
                    "/auth/session/\(code)", headers: ["Sec-Fetch-Dest": destination])
                #expect(refused.status == 403)
                #expect(refused.header("set-cookie") == nil)
                #expect(refused.header("location") == nil)
            }
            let opened = try await world.server.get("/auth/session/\(code)", headers: ["Sec-Fetch-Dest": "document"])
            #expect(opened.status == 302)
        }
    }

    @Test("A browser's prefetch does not spend a session code", arguments: Backend.available)
    func prefetch(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            for headers in [
                ["Sec-Purpose": "prefetch"], ["Sec-Purpose": "prefetch;prerender"], ["Purpose": "prefetch"],
                ["X-Moz": "prefetch"],
            ] {
                let ahead = try await world.server.get("/auth/session/\(code)", headers: headers)
                #expect(ahead.status != 302, "\(headers)")
                #expect(ahead.header("set-cookie") == nil)
            }
            #expect(try await world.server.get("/auth/session/\(code)").status == 302)
        }
    }

    @Test("HEAD and other methods than GET do not spend a session code", arguments: Backend.available)
    func otherMethods(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            for method in ["HEAD", "OPTIONS", "PUT", "DELETE", "POST"] {
                let answer = try await world.server.send(method, "/auth/session/\(code)")
                #expect((400..<500).contains(answer.status), "\(method)")
                #expect(answer.header("set-cookie") == nil)
            }
            #expect(try await world.server.get("/auth/session/\(code)").status == 302)
        }
    }

    @Test("A third party's token buys no session", arguments: Backend.available)
    func thirdParty(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.confidential(["first_party": false])
            let token = try await world.signIn(with: stranger).require("access_token")
            let code = try await world.exchange(token, for: world.app, type: "session", redirectURI: World.webview)
            #expect(code.status == 403)
            #expect(code.json["code"] == nil)
        }
    }
}
