import JSON
import TestSupport
import Testing

@Suite("A user's sign-out is told to the clients that act for the user")
struct LogoutCallbackTests {
    @Test(
        "Signing out of the browser sends a callback to every client with a live token of the user",
        arguments: Backend.available)
    func browser(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let client = try await world.told(at: receiver)
            let ended = try await world.told(at: receiver, "/ended", as: nil)
            let token = try await world.signIn(with: ended.actor).require("refresh_token")
            _ = try await world.server.post("/oauth/revoke", ["token": token], basic: ended.actor.basic)
            var visitor = try await world.signedIn()
            let page = try await visitor.browser.open("/logout")
            _ = try await visitor.browser.submit(page)
            let message = try await client.next()
            #expect(message.gist == "session: status = ended")
            #expect(message.entry["userId"]?.string == world.user)
            #expect(message.entry["clientId"] == nil)
            // Sent twice it ends nothing.
            _ = try await visitor.browser.submit(page)
            try await world.change("users", world.user, ["nickname": "Ada"])
            let paths = Set([try await receiver.next().path, try await receiver.next().path])
            #expect(paths == ["/loom", "/ended"], "both know the person, one acts for them")
        }
    }

    @Test(
        "Signing out of an app tells the merchant's clients which app it was, and no other merchant",
        arguments: Backend.available,
        ["/logout", "/api/2/logout"])
    func token(backend: Backend, path: String) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let client = try await world.told(at: receiver)
            let rival = try await world.told(at: receiver, "/rival", of: world.rival)
            let phone = try await world.signIn().require("access_token")
            #expect(try await world.server.get(path, bearer: phone).status == 200)
            let message = try await client.next()
            #expect(message.gist == "session: status = ended")
            #expect(message.entry["clientId"]?.string == world.app.id)
            #expect(try await world.server.get(path, bearer: phone).status == 401)

            // The last token of the client itself ends: it is told of its own.
            let own = try await world.signIn(with: rival.actor).require("access_token")
            #expect(try await world.server.get(path, bearer: own).status == 200)
            #expect(try await rival.next().entry["clientId"]?.string == rival.actor.id)
        }
    }

    @Test(
        "A third party's sign-out is not told to the merchant, nor the merchant's to a third party",
        arguments: Backend.available)
    func thirdParty(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let own = try await world.told(at: receiver)
            let third = try await world.told(at: receiver, "/third")
            try await world.change("clients", third.actor.id, ["first_party": false])
            // Both have another live token of the user.
            for _ in 1...2 {
                for client in [third, own] {
                    let token = try await world.signIn(with: client.actor).require("access_token")
                    #expect(try await world.server.get("/logout", bearer: token).status == 200)
                    #expect(try await client.next().entry["clientId"]?.string == client.actor.id)
                }
            }
        }
    }

    @Test("Logging out a client's own token sends no callback", arguments: Backend.available)
    func clientToken(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.told(at: try CallbackReceiver())
            let backend = try await world.spidBackend()
            _ = try await world.api("logout", try await world.clientToken(backend))
            #expect(try await world.waiting(.callback) == 0)
        }
    }

    @Test(
        "A session that is ended on the account page is told to the user's clients once", arguments: Backend.available)
    func elsewhere(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let client = try await world.told(at: receiver)
            var here = try await world.signedIn()
            _ = try await here.change("sessions/end-others")
            _ = try await world.signedIn()
            let other = try #require(try await here.otherSessions().first)
            _ = try await here.change("sessions/end", ["session": other])
            let first = try await client.next()
            #expect(first.gist == "session: status = ended")
            // Again, nobody's and somebody else's: nothing ends.
            for session in [other, "nobody"] { _ = try await here.change("sessions/end", ["session": session]) }
            _ = try await world.signedIn()
            _ = try await world.signedIn()
            _ = try await here.change("sessions/end-others")
            let second = try await client.next()
            #expect(second.gist == "session: status = ended")
            #expect(second["id"] != first["id"])
            try await world.change("users", world.user, ["nickname": "Ada"])
            #expect(try await client.next().gist == "user: displayName", "two at once are one message")
        }
    }

    @Test("The end of a web view's session is told to its own merchant only", arguments: Backend.available)
    func webview(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let client = try await world.told(at: receiver)
            let rival = try await world.told(at: receiver, "/rival", of: world.rival)
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: try await world.signIn()))")
            _ = try await webview.submit(try await webview.open("/logout"))
            let message = try await client.next()
            #expect(message.entry["clientId"]?.string == world.app.id)
            try await world.change("clients", client.actor.id, ["callback_uri": .null])
            try await world.change("users", world.user, ["nickname": "Ada"])
            #expect(try await rival.next().gist == "user: displayName")
        }
    }

    @Test("Revoking an app tells that app alone, once", arguments: Backend.available)
    func revoked(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let client = try await world.told(at: receiver)
            let other = try await world.told(at: receiver, "/other")
            var visitor = try await world.signedIn()
            for _ in 1...2 { _ = try await visitor.change("apps/revoke", ["client": client.actor.id]) }
            let message = try await client.next()
            #expect(message.gist == "session: status = revoked")
            #expect(message.entry["userId"]?.string == world.user)
            // No longer connected: not told of anything more.
            try await world.change("users", world.user, ["nickname": "Ada"])
            #expect(try await other.next().gist == "user: displayName")
        }
    }

    @Test("A merchant whose user is disconnected tells its own clients", arguments: Backend.available)
    func disconnected(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let client = try await world.told(at: receiver)
            let rival = try await world.told(at: receiver, "/rival", of: world.rival)
            let administrator = try await world.confidential([
                "scope": "admin:merchant", "grant_types": ["client_credentials"],
            ])
            let token = try await world.clientToken(administrator, scope: "admin:merchant")
            #expect(try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: token).status == 204)
            #expect(try await client.next().gist == "session: status = revoked")
            try await world.change("users", world.user, ["nickname": "Ada"])
            #expect(try await rival.next().gist == "user: displayName")
        }
    }
}
