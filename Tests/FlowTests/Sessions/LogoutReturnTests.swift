import JSON
import TestSupport
import Testing

@Suite("A logout that leads nowhere says why")
struct LogoutReturnTests {
    @Test(
        "An unregistered post_logout_redirect_uri is named on the pages of the logout and in the log",
        arguments: Backend.available)
    func unregistered(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website()
            var browser = Browser(world.server)
            let hint = try await site.signIn(in: &browser).require("id_token")
            let asked = try await browser.logOut([
                "id_token_hint": hint, "post_logout_redirect_uri": Website.bye + "/",
            ])
            #expect(asked.words.contains("Sign out?"))
            let told =
                "client_id: \(site.actor.id), post_logout_redirect_uri: \(Website.bye)/. It differs from a registered "
                + "address only in: the slash at its end."
            #expect(asked.words.contains(told), "\(asked)")
            #expect(asked.words.contains("post_logout_redirect_uris or redirect_uris, character for character"))
            #expect(
                world.server.log.lines.contains {
                    $0.contains("reason=unregistered_post_logout_redirect_uri") && $0.contains(site.actor.id)
                })
            let out = try await browser.submit(asked)
            #expect(out.words.contains("You are signed out") && out.words.contains(told), "\(out)")

            // Without a client there is none to compare with.
            let nameless = try await browser.logOut(["post_logout_redirect_uri": Website.bye])
            #expect(nameless.words.contains("No client is known: send id_token_hint, or client_id."), "\(nameless)")
            let wrong = try await browser.logOut([
                "id_token_hint": "no.such.token", "post_logout_redirect_uri": Website.bye,
            ])
            #expect(wrong.words.contains("id_token_hint is no ID token of this server"), "\(wrong)")
            #expect(world.server.log.says("reason=logout_of_unknown_client"))
        }
    }

    @Test(
        "A logout page whose return address is registered shows no hint about addresses",
        arguments: Backend.available)
    func registered(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website()
            var browser = Browser(world.server)
            _ = try await site.signIn(in: &browser)
            let asked = try await browser.logOut([
                "client_id": site.actor.id, "post_logout_redirect_uri": Website.bye,
            ])
            #expect(asked.words.contains("Sign out?") && !asked.words.contains("registered"))
            #expect(!world.server.log.says("post_logout_redirect_uri"))
        }
    }

    @Test(
        "The logout page refuses a server that opens it with its user's ID token, and names revocation",
        arguments: Backend.available)
    func byServer(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website()
            var browser = Browser(world.server)
            let hint = try await site.signIn(in: &browser).require("id_token")
            for headers in [[:], ["Accept": "*/*"]] {
                let answer = try await world.server.get("/logout?id_token_hint=\(hint)", headers: headers)
                #expect(answer.status == 400 && answer.error == "invalid_request")
                #expect(answer.json["error_description"]?.string?.contains("/oauth/revoke") == true)
            }
            #expect(try await browser.isSignedIn())
            // A browser without a session gets the page.
            let page = try await world.server.get("/logout?id_token_hint=\(hint)", headers: ["Accept": "text/html"])
            #expect(page.status == 200 && page.words.contains("You are signed out"))
        }
    }
}
