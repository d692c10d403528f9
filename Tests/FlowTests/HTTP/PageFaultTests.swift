import JSON
import Storage
import TestSupport
import Testing

@Suite("A user gets a page when the server fails")
struct PageFaultTests {
    private static let browser = ["Accept": "text/html,application/xhtml+xml", "Accept-Language": "sv"]

    @Test("The page of an internal error shows the number of the request, and no cause", arguments: Backend.available)
    func broken(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            try await world.server.database.write { db in
                _ = try db.execute("UPDATE users SET profile = 'broken' WHERE id = \(world.user)")
            }
            let answer = try await visitor.browser.open("/account", headers: Self.browser)
            #expect(answer.status == 500)
            #expect(answer.isPage)
            #expect(answer.header("content-language") == "sv")
            #expect(answer.body.contains("<h1>Något gick fel</h1>"))
            #expect(answer.body.contains(/Referens, om du ber om hjälp: <code>[0-9a-f]{32}<\/code>/), "what to quote")
            #expect(!answer.body.contains("broken"))
            let program = try await visitor.browser.open("/account", headers: ["Accept": "application/json"])
            #expect(program.status == 500)
            #expect(program.error == "server_error")
        }
    }

    @Test("The page for an unavailable database says to try again", arguments: Backend.available)
    func away(backend: Backend) async throws {
        try await World.with(backend) { world in
            let address = world.authorizeAddress()
            // The first request reads the list of session hosts, without which there is no page.
            _ = try await world.server.get(address, headers: Self.browser)
            await world.server.database.close()
            let answer = try await world.server.get(address, headers: Self.browser)
            #expect(answer.status == 503)
            #expect(answer.isPage)
            #expect(answer.header("retry-after") == "1")
            #expect(answer.body.contains("<h1>Försök igen om en stund</h1>"))
            #expect(!answer.body.contains("class=\"detail\""))
        }
    }

    /// Every address that a form of a page is sent to.
    static let forms = [
        "/login", "/login/code", "/login/code/check", "/signup", "/signup/check", "/password", "/verify",
        "/verify/check", "/account/profile", "/account/password", "/account/email", "/account/email/check",
        "/account/sessions/end", "/account/sessions/end-others", "/account/apps/revoke", "/account/delete",
        "/account/restore", "/oauth/consent", "/logout",
    ]

    @Test(
        "Opening a form's address by GET shows a page or leads to one, and does not sign the user out",
        arguments: forms)
    func addresses(path: String) async throws {
        try await World.with(.sqlite) { world in
            var nobody = BrowserUser(world)
            var ada = try await world.signedIn()
            for query in ["", "?verification=", "?verification=unknown"] {
                for answer in [
                    try await nobody.browser.open(path + query, headers: Self.browser),
                    try await ada.browser.open(path + query, headers: Self.browser),
                ] {
                    #expect([200, 303].contains(answer.status), "\(answer.status)")
                    guard let location = answer.header("location") else { continue }
                    #expect(location.hasPrefix("/"))
                    let next = try await nobody.browser.open(location)
                    #expect([200, 303].contains(next.status))
                }
            }
            #expect(try await ada.isSignedIn())
        }
    }
}
