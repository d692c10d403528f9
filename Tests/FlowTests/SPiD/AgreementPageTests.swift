import JSON
import Storage
import TestSupport
import Testing

@Suite("Users agree to the terms that a page shows them") struct AgreementPageTests {
    static let platform = "https://spindle.example/terms"
    static let loom = "https://loom.example/terms/1"

    private func agreements(_ world: World, _ token: String, of user: String) async throws -> JSON? {
        try await world.api("user/\(user)/agreements", token).data["agreements"]
    }

    @Test(
        "A sign-up agrees to the terms that its page shows, in the transaction that creates the user",
        arguments: Backend.available)
    func signingUp(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["terms": Self.platform]) { world in
            try await world.change("clients", world.app.id, ["tos_uri": .string(Self.loom)])
            world.server.clock.advance(by: .seconds(1))
            var browser = Browser(world.server)
            let path = "/signup?continue=\(try await world.begin(world.authorizeAddress(), in: &browser))"
            let page = try await browser.open(path)
            #expect(page.body.contains("terms of <bdi>spindle.test</bdi>"))
            #expect(page.body.contains("terms of <bdi>Loom for phones</bdi>"))
            #expect(page.body.contains("href=\"\(Self.platform)\"") && page.body.contains("href=\"\(Self.loom)\""))
            // What was shown counts, even if there are others by the time the address is confirmed.
            let asked = try await sign(
                up: "grace@example.com", on: page, in: &browser, of: world,
                agreeing: [Self.platform, Self.loom, "https://x.example"])
            try await world.change("clients", world.app.id, ["tos_uri": "https://loom.example/terms/2"])
            world.server.clock.advance(by: .seconds(1))
            let code = try #require(try await world.server.mail.letter(to: "grace@example.com").code)
            #expect(try await browser.submit(asked, ["code": code]).status == 303)

            let grace = try await world.signIn(as: "grace@example.com")
            let (token, id) = (try grace.require("access_token"), try grace.require("user_id"))
            #expect(try await agreements(world, token, of: id) == ["platform": true, "client": false])
            let held = try await world.server.get("/admin/v1/users/\(id)/data", bearer: world.admin).json["agreements"]
            #expect(held?.array?.compactMap { $0["terms"]?.string }.sorted() == [Self.loom, Self.platform].sorted())
            #expect(held?.array?.first { $0["terms"]?.string == Self.loom }?["client_id"] == .string(world.app.id))
            try await world.change("clients", world.app.id, ["tos_uri": .string(Self.loom)])
            world.server.clock.advance(by: .seconds(1))
            #expect(try await agreements(world, token, of: id) == ["platform": true, "client": true])
        }
    }

    @Test(
        "A sign-up's link that is opened in another browser agrees to the terms that its own page shows",
        arguments: Backend.available)
    func elsewhere(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["terms": Self.platform]) { world in
            try await world.change("clients", world.app.id, ["tos_uri": .string(Self.loom)])
            world.server.clock.advance(by: .seconds(1))
            var browser = Browser(world.server)
            let path = "/signup?continue=\(try await world.begin(world.authorizeAddress(), in: &browser))"
            let page = try await browser.open(path)
            _ = try await sign(up: "grace@example.com", on: page, in: &browser, of: world, agreeing: [Self.loom])
            let letter = try await world.server.mail.letter(to: "grace@example.com")
            let link = try #require(letter.link(containing: "/confirm/")).replacing("http://spindle.test", with: "")
            var reader = Browser(world.server)
            let confirm = try await reader.open(link)
            #expect(
                confirm.body.contains("href=\"\(Self.platform)\"") && confirm.body.contains("href=\"\(Self.loom)\""))
            let form = ["form_token": confirm.fields["form_token"] ?? "", "password": World.password]
            let done = try await world.server.post(
                link, form: form.map { ($0.key, $0.value) } + [("terms", Self.platform)], cookies: reader.cookies)
            #expect(done.status == 303)
            let grace = try await world.signIn(as: "grace@example.com")
            let (token, id) = (try grace.require("access_token"), try grace.require("user_id"))
            #expect(try await agreements(world, token, of: id) == ["platform": true, "client": false])
        }
    }

    /// Sends the form as a browser does: `terms` as often as there are some.
    private func sign(
        up email: String, on page: Answer, in browser: inout Browser, of world: World, agreeing terms: [String]
    ) async throws -> Answer {
        let hidden = page.fields.filter { $0.key != "terms" }.map { ($0.key, $0.value) }
        let typed = [("email", email), ("password", World.password)]
        let asked = try await world.server.post(
            "/signup", form: hidden + terms.map { ("terms", $0) } + typed, cookies: browser.cookies)
        return try await browser.open(try #require(asked.header("location")))
    }

    @Test("A sign-up without terms shows none and agrees to none")
    func nothingShown() async throws {
        try await World.with(.sqlite, settings: ["terms": Self.platform]) { world in
            var browser = Browser(world.server)
            let page = try await browser.open("/signup")
            let asked = try await sign(up: "grace@example.com", on: page, in: &browser, of: world, agreeing: [])
            let code = try #require(try await world.server.mail.letter(to: "grace@example.com").code)
            #expect(try await browser.submit(asked, ["code": code]).status == 303)
            let grace = try await world.signIn(as: "grace@example.com")
            #expect(
                try await agreements(world, try grace.require("access_token"), of: try grace.require("user_id"))
                    == ["platform": false, "client": true])
        }
        try await World.with(.sqlite) { world in
            let page = try await world.server.get("/signup")
            #expect(page.status == 200 && !page.body.contains("terms of"))
        }
    }

    @Test("Allowing a client agrees to its terms; denying it does not", arguments: Backend.available)
    func consent(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.stranger(["tos_uri": .string(Self.loom)])
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(for: stranger))
            #expect(page.body.contains("terms of <bdi>Stranger</bdi>") && page.fields["terms"] == Self.loom)
            _ = try await world.answer(page, in: browser, "deny")
            #expect(try await held(world).isEmpty)
            _ = try await world.answer(page, in: browser, "allow", ticking: ["email"])
            #expect(try await held(world) == [Self.loom])

            // A user's agreements are deleted with the user, a client's with the client.
            #expect(
                try await world.server.send("DELETE", "/admin/v1/clients/\(stranger.id)", bearer: world.admin).status
                    == 204)
            #expect(try await held(world).isEmpty)
        }
    }

    private func held(_ world: World) async throws -> [String] {
        let data = try await world.server.get("/admin/v1/users/\(world.user)/data", bearer: world.admin)
        return data.json["agreements"]?.array?.compactMap { $0["terms"]?.string } ?? []
    }

    @Test("A user's agreements are deleted with the user", arguments: Backend.available)
    func deletion(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["terms": Self.platform, "deletion_grace": "0"]) { world in
            let phone = try await world.signIn().require("access_token")
            _ = try await world.api("user/\(world.user)/agreements/accept", phone, [:])
            func count() async throws -> Int {
                try await world.server.database.read { db in try db.rows("SELECT user_id FROM agreements").count }
            }
            #expect(try await count() == 1)
            #expect(
                try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: world.admin).status
                    == 204)
            #expect(try await count() == 0)
        }
    }
}
