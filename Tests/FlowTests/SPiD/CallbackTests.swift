import JSON
import Mail
import TestSupport
import Testing
import Values

@Suite("Callbacks: a user's clients are told once that the user changed or signed out, and never what the values are")
struct CallbackTests {
    // MARK: Changes

    @Test(
        "Each change on the account page sends one callback that names the fields, not their values",
        arguments: Backend.available)
    func accountPage(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let client = try await world.told(at: receiver)
            var visitor = try await world.signedIn()
            let fields = ["name": "Augusta King", "phone_number": "+44 20 7946 1815"]
            _ = try await visitor.change("profile", fields)
            let message = try await client.next()
            #expect(message.gist == "user: displayName,name,phoneNumber")
            #expect(message.entry["userId"]?.string == world.user)
            #expect(message.entry["time"]?.string == "2027-01-15 08:00:00")
            #expect(message.entry.members?.map(\.name) == ["userId", "changedFields", "time"])
            #expect(!["Augusta", "7946 1815", "79461815"].contains(where: message.text.contains), "a value was told")

            // Sending the same values again is no change and sends nothing.
            _ = try await visitor.change("profile", fields)
            _ = try await visitor.change(
                "password", ["current_password": World.password, "new_password": "a quite different loom"])
            let second = try await client.next()
            #expect(second.gist == "user: password")
            #expect(second["id"] != message["id"])
        }
    }

    @Test(
        "Verifying an e-mail address and changing it each send one callback, without the address",
        arguments: Backend.available)
    func address(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let client = try await world.told(at: receiver)
            var visitor = try await world.signedIn()
            let verify = try await visitor.browser.submit(try await visitor.browser.open("/verify"))
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            _ = try await visitor.browser.submit(verify, ["code": code])
            #expect(try await client.next().gist == "user: status = verified")

            let new = "countess@example.com"
            let page = try await visitor.browser.open("/account")
            let asked = try await visitor.browser.submit(
                page, ["email": new, "current_password": World.password], to: "/account/email")
            let letter = try #require(try await world.server.mail.letter(to: new).code)
            _ = try await visitor.browser.submit(asked, ["code": letter])
            let message = try await client.next()
            #expect(message.gist == "user: email")
            #expect(!message.text.contains("example.com"))
        }
    }

    @Test("Each password reset sends one callback", arguments: Backend.available)
    func reset(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            try await world.change("users", world.user, ["email_verified": true])
            let client = try await world.told(at: receiver)
            for number in 1...2 {
                var visitor = BrowserUser(world)
                _ = try await visitor.fill("/password", ["email": World.email])
                let link = try #require(
                    try await world.server.mail.letter(to: World.email).link(containing: "/password/reset/"))
                let page = try await visitor.browser.open(link.replacing("http://spindle.test", with: ""))
                _ = try await visitor.browser.submit(page, ["password": "a loom of number \(number)"])
                #expect(try await client.next().gist == "user: password")
                _ = try await world.server.mail.letter(to: World.email)
            }
        }
    }

    @Test(
        "A client that loses a user at the first proof of the address gets one callback, about the end",
        arguments: Backend.available)
    func mailSignIn(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let client = try await world.told(at: receiver)
            for _ in 1...2 {
                var visitor = BrowserUser(world)
                let page = try await visitor.press(
                    try await visitor.browser.open("/login"), action: "/login/code", ["email": World.email])
                let code = try #require(try await world.server.mail.letter(to: World.email).code)
                #expect(try await visitor.browser.submit(page, ["code": code]).status == 303)
            }
            #expect(try await client.next().gist == "session: status = revoked")
            try await world.change("users", world.user, ["nickname": "Ada", "password": .string(World.password)])
            #expect(try await world.signIn(with: client.actor).status == 200)
            try await world.change("users", world.user, ["gender": "female"])
            #expect(try await client.next().gist == "user: gender", "a sign-in connects anew")
        }
    }

    @Test(
        "Each change of a user by administration sends one callback; a change of nothing sends none",
        arguments: Backend.available)
    func administration(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let client = try await world.told(at: receiver)
            let changes: [(JSON, String?)] = [
                (["given_name": "Ada", "birthdate": "1815-12-10"], "user: birthday,name"),
                (["given_name": "Ada"], nil),
                (["email_verified": true], "user: status = verified"),
                (["password": "an entirely new one", "locale": "sv"], "user: locale,password"),
                (["email": "countess@example.com"], "user: email,status = unverified"),
                (["email": "Countess@example.com"], nil),
                (["disabled": true], "user: status = blocked"),
                (["disabled": true], nil), (["email_verified": true], nil),
                (["disabled": false], "user: status = verified"),
            ]
            for (change, expected) in changes {
                #expect(try await world.change("users", world.user, change).status == 200)
                if let expected { #expect(try await client.next().gist == expected, "\(change.text)") }
            }
        }
    }

    @Test(
        "The request, cancellation and completion of a user's deletion each send one callback",
        arguments: Backend.available)
    func deletion(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let client = try await world.told(at: receiver)
            var visitor = try await world.signedIn()
            func leave(_ visitor: inout BrowserUser) async throws {
                let form = try await visitor.browser.open("/account/delete")
                _ = try await visitor.browser.submit(form, ["current_password": World.password])
            }
            try await leave(&visitor)
            #expect(try await client.next().gist == "user: status = inactive")
            let asked = try await visitor.fill("/login", ["email": World.email, "password": World.password])
            _ = try await visitor.browser.submit(asked, ["decision": "keep"])
            #expect(try await client.next().gist == "user: status = unverified")
            try await leave(&visitor)
            #expect(try await client.next().gist == "user: status = inactive")
            #expect(
                try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: world.admin).status
                    == 204)
            let gone = try await client.next()
            #expect(gone.gist == "user: status = deleted")
            #expect(gone.entry["userId"]?.string == world.user)
        }
    }

    @Test(
        "A client that the user never used gets no callback; a disabled client gets only that of a deletion",
        arguments: Backend.available)
    func strangers(backend: Backend) async throws {
        // No callback may leave this machine, so each one is still stored.
        try await World.with(backend) { world in
            let receiver = try CallbackReceiver()
            _ = try await world.person("eve@example.com")
            let rivals = try await world.told(at: receiver, "/rival", of: world.rival, as: nil)
            let others = try await world.told(at: receiver, "/eve", as: "eve@example.com")
            let disabled = try await world.told(at: receiver, "/disabled")
            try await world.change("clients", disabled.actor.id, ["disabled": true])
            var visitor = try await world.signedIn()
            _ = try await visitor.change("profile", ["name": "Augusta"])
            _ = try await visitor.change(
                "password", ["current_password": World.password, "new_password": World.password + "."])
            _ = try await visitor.browser.submit(try await visitor.browser.open("/logout"))
            #expect(try await world.waiting(.callback) == 0, "\(rivals.path), \(others.path) or \(disabled.path)")
            // A disabled client has to delete the user's data as well.
            _ = try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: world.admin)
            #expect(try await world.waiting(.callback) == 1)
        }
    }

    @Test(
        "Each client's callback has an id of its own and is signed with that client's secret",
        arguments: Backend.available)
    func several(backend: Backend) async throws {
        // One server each, since a server gets few callbacks at once.
        let receivers = try (CallbackReceiver(), CallbackReceiver(), CallbackReceiver())
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let clients = [
                try await world.told(at: receivers.0, "/one"), try await world.told(at: receivers.1, "/two"),
                try await world.told(at: receivers.2, "/rival", of: world.rival),
            ]
            try await world.change("users", world.user, ["nickname": "Ada"])
            var ids: Set<String> = []
            for client in clients { ids.insert(try await client.next()["id"]?.string ?? "") }
            #expect(ids.count == 3)
        }
    }

    @Test("A callback that the client refused is sent again, unchanged, by another node", arguments: Backend.available)
    func anotherNode(backend: Backend) async throws {
        let receiver = try CallbackReceiver(refusing: 1)
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let client = try await world.told(at: receiver)
            let refused = try await world.server.beside { node in
                try await world.at(node).change("users", world.user, ["nickname": "Ada"])
                let refused = try client.read(try await receiver.nextRefused())
                try await world.untilPostponed(.callback)
                return refused
            }
            world.server.clock.advance(by: .minutes(2))
            let repeated = try await client.next()
            #expect(repeated == refused, "a repeat is the same message")
        }
    }

    @Test("A client without a callback_uri gets no callback", arguments: Backend.available)
    func nothingWithoutAddress(backend: Backend) async throws {
        try await World.with(backend) { world in
            let receiver = try CallbackReceiver()
            let client = try await world.told(at: receiver)
            try await world.change("clients", client.actor.id, ["callback_uri": .null])
            try await world.change("users", world.user, ["nickname": "Ada"])
            #expect(try await world.waiting(.callback) == 0)
        }
    }

    // MARK: Sign-outs

    @Test(
        "Signing a browser out sends a callback to every client with a live token of the user",
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
            // The form sent twice ends nothing more.
            _ = try await visitor.browser.submit(page)
            try await world.change("users", world.user, ["nickname": "Ada"])
            let paths = Set([try await receiver.next().path, try await receiver.next().path])
            #expect(paths == ["/loom", "/ended"], "both know the user, one acts for the user")
        }
    }

    @Test(
        "Signing out of an app sends a callback that names the app to its merchant's clients alone",
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

            // A client whose own last token ends is told too.
            let own = try await world.signIn(with: rival.actor).require("access_token")
            #expect(try await world.server.get(path, bearer: own).status == 200)
            #expect(try await rival.next().entry["clientId"]?.string == rival.actor.id)
        }
    }

    @Test(
        "A third party's sign-out sends no callback to the merchant's own clients, nor the other way round",
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

    @Test("Logging out a client credentials token sends no callback", arguments: Backend.available)
    func clientToken(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.told(at: try CallbackReceiver())
            let backend = try await world.spidBackend()
            _ = try await world.api("logout", try await world.clientToken(backend))
            #expect(try await world.waiting(.callback) == 0)
        }
    }

    @Test(
        "Sessions ended on the account page send the user's clients one callback for each action",
        arguments: Backend.available)
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
            // An ended session and an unknown one end nothing.
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

    @Test(
        "Signing out everywhere else sends each client one callback, which names no app",
        arguments: Backend.available, [true, false])
    func everywhereElse(backend: Backend, hasOther: Bool) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let client = try await world.told(at: receiver)
            var here = try await world.signedIn()
            if hasOther { _ = try await world.signedIn() }
            for app in [world.app, client.actor] {
                let phone = try await world.signIn(with: app)
                let code = try await world.exchange(
                    try phone.require("access_token"), for: world.app, type: "session", redirectURI: World.webview
                ).require("code")
                var webview = Browser(world.server)
                #expect(try await webview.open("/auth/session/\(code)").status == 302)
            }
            _ = try await here.change("sessions/end-others")
            let message = try await client.next()
            #expect(message.gist == "session: status = ended" && message.entry["clientId"] == nil, "\(message)")
            try await world.change("users", world.user, ["nickname": "Ada"])
            #expect(try await client.next().gist == "user: displayName")
        }
    }

    @Test(
        "The end of a web view's session sends a callback to its own merchant's clients only",
        arguments: Backend.available)
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

    @Test("Revoking an app sends one callback, to that app only", arguments: Backend.available)
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
            // The client is no longer connected, and hears nothing more.
            try await world.change("users", world.user, ["nickname": "Ada"])
            #expect(try await other.next().gist == "user: displayName")
        }
    }

    @Test(
        "Disconnecting a user from a merchant sends a callback to that merchant's clients only",
        arguments: Backend.available)
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
