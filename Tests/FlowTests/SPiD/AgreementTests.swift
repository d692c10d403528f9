import JSON
import Storage
import TestSupport
import Testing

@Suite("Terms are accepted by their URL, on pages and through SPiD's API; new terms need a new acceptance")
struct AgreementTests {
    static let platform = "https://spindle.example/terms"
    static let loom = "https://loom.example/terms/1"

    private func agreements(_ world: World, _ token: String, of user: String? = nil) async throws -> JSON? {
        try await world.api("user/\(user ?? world.user)/agreements", token).data["agreements"]
    }

    /// The answer of `terms` for a client without terms.
    private func told(_ accepted: Bool, _ terms: String = "", platform: String = "") -> JSON {
        [
            "accepted": .bool(accepted), "terms": .string(terms), "change_date": "", "terms_url": "", "privacy_url": "",
            "platform_terms_url": .string(platform), "platform_privacy_url": "", "summary": [],
        ]
    }

    @Test(
        "SPiD's API gives a client's terms with a summary and the address of its privacy policy",
        arguments: Backend.available)
    func summary(_ backend: Backend) async throws {
        let privacy = "https://spindle.example/privacy"
        try await World.with(backend, settings: ["privacy": privacy]) { world in
            let client = try await world.spidBackend([
                "tos_uri": .string(Self.loom), "policy_uri": "https://loom.example/privacy",
                "terms_summary": ["Now with cookies.", "Nå på norsk."],
            ])
            let terms = try await world.api("terms?client_id=\(client.id)", nil)
            #expect(terms.data["summary"] == ["Now with cookies.", "Nå på norsk."])
            #expect(terms.data["privacy_url"] == "https://loom.example/privacy")
            #expect(terms.data["platform_privacy_url"] == .string(privacy))
        }
    }

    @Test(
        "SPiD's API tells that all is accepted where neither the platform nor the client has terms",
        arguments: Backend.available)
    func none(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn().require("access_token")
            #expect(try await agreements(world, phone) == ["platform": true, "client": true])
            let terms = try await world.api("terms", nil)
            #expect(terms.status == 200 && terms.data == told(true))
            let accepted = try await world.api("user/\(world.user)/agreements/accept", phone, [:])
            #expect(accepted.status == 200 && accepted.data == ["result": true])
        }
    }

    @Test(
        "A user's acceptance of terms counts for no other user, and a client's new terms need a new one",
        arguments: Backend.available)
    func acceptance(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["terms": Self.platform]) { world in
            try await world.change("clients", world.app.id, ["tos_uri": .string(Self.loom)])
            world.server.clock.advance(by: .seconds(1))
            let phone = try await world.signIn().require("access_token")
            #expect(try await agreements(world, phone) == ["platform": false, "client": false])
            let path = "user/\(world.user)/agreements/accept"
            let accepted = try await world.server.send("POST", "/api/2/" + path, bearer: phone)
            #expect(accepted.status == 200 && accepted.data == ["result": true], "without a body")
            #expect(try await agreements(world, phone) == ["platform": true, "client": true])
            #expect(try await world.api(path, phone, ["whatever": "x"]).data == ["result": true], "said twice")
            // Another user has not accepted.
            _ = try await world.person("grace@example.com")
            let grace = try await world.signIn(as: "grace@example.com")
            let token = try grace.require("access_token")
            #expect(
                try await agreements(world, token, of: try grace.require("user_id"))
                    == ["platform": false, "client": false])

            try await world.change("clients", world.app.id, ["tos_uri": "https://loom.example/terms/2"])
            world.server.clock.advance(by: .seconds(1))
            #expect(try await agreements(world, phone) == ["platform": true, "client": false])
            #expect(try await world.api(path, phone, [:]).status == 200)
            #expect(try await agreements(world, phone) == ["platform": true, "client": true])
        }
    }

    @Test("SPiD's API tells the terms, and whether the calling user has accepted them", arguments: Backend.available)
    func terms(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["terms": Self.platform + "/"]) { world in
            try await world.change("clients", world.app.id, ["tos_uri": .string(Self.loom)])
            world.server.clock.advance(by: .seconds(1))
            let platform = try await world.api("terms", nil)
            #expect(platform.data == told(false, Self.platform + "/", platform: Self.platform + "/"))
            let client = try await world.api("terms?clientId=\(world.app.id)", nil)
            #expect(client.data["terms"] == .string(Self.loom) && client.data["accepted"] == false)
            #expect(client.data["terms_url"] == .string(Self.loom) && client.data["summary"] == [])
            #expect(client.data["change_date"]?.string?.count == "Jun 11, 2012".count)
            #expect(try await world.api("terms.json?client_id=\(world.app.id)", nil).data == client.data)
            let other = try await world.api("terms?client_id=\(world.backend.id)", nil)
            #expect(other.data == told(true, platform: Self.platform + "/"))

            let phone = try await world.signIn().require("access_token")
            #expect(try await world.api("terms", phone).data["accepted"] == false)
            _ = try await world.api("user/\(world.user)/agreements/accept", phone, [:])
            #expect(try await world.api("terms", phone).data["accepted"] == true)
            #expect(try await world.api("terms?clientId=\(world.app.id)", phone).data["accepted"] == true)
            #expect(try await world.api("terms", nil).data["accepted"] == false)

            #expect(try await world.api("terms?clientId=unknown", nil).spidError == "Unknown client ID")
            #expect(try await world.api("terms", "unknown").status == 401)
        }
    }

    @Test(
        "A backend's acceptance of terms fails if its token or the user's connection ends during the call",
        arguments: Backend.available)
    func leftMeanwhile(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["terms": Self.platform]) { world in
            let own = try await world.spidBackend(["tos_uri": .string(Self.loom)])
            let token = try await world.clientToken(own)
            let path = "user/\(world.user)/agreements/accept"
            for (table, status) in [("connections", 403), ("access_tokens", 401)] {
                _ = try await world.signIn(with: own)
                world.server.interruptions.interrupt {
                    try await world.server.database.write { db in
                        _ = try db.execute(SQL(script: "DELETE FROM \(table)"))
                    }
                }
                #expect(try await world.api(path, token, [:]).status == status, "\(table)")
                #expect(world.server.interruptions.wasInterrupted)
                #expect(try await world.count("agreements") == 0)
            }
            // It is enough that the user has used another of the merchant's clients.
            _ = try await world.signIn()
            #expect(try await world.api(path, try await world.clientToken(own), [:]).status == 200)
            #expect(try await world.count("agreements") == 2)
        }
    }

    @Test(
        "A backend may accept terms for its merchant's users, also for a client named by contextClientId",
        arguments: Backend.available)
    func backend(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.server.database.change("DELETE FROM connections")
            try await world.change("clients", world.app.id, ["tos_uri": .string(Self.loom)])
            let own = try await world.spidBackend(["tos_uri": "https://loom.example/terms/backend"])
            let token = try await world.clientToken(own)
            let path = "user/\(world.user)/agreements"
            let before = try await world.api(path, token)
            #expect(before.status == 403 && before.spidError == "Client is not authorized to access this user")
            _ = try await world.signIn()
            #expect(try await world.api(path, token).data["agreements"] == ["platform": true, "client": false])

            let context = "?contextClientId=\(world.app.id)"
            #expect(try await world.api("\(path)/accept\(context)", token, [:]).data == ["result": true])
            #expect(try await world.api(path + context, token).data["agreements"]?["client"] == true)
            #expect(try await world.api(path, token).data["agreements"]?["client"] == false)

            let rival = try await world.clientToken(try await world.spidBackend(of: world.rival))
            #expect(try await world.api(path, rival).status == 403)
            #expect(try await world.api("\(path)/accept", rival, [:]).status == 403)
            let stranger = try await world.newcomer("grace@example.com")
            let phone = try await world.signIn().require("access_token")
            for (id, status) in [(stranger, 403), ("1234567890", 403), ("0", 404), ("unknown", 404)] {
                let foreign = try await world.api("user/\(id)/agreements", phone)
                #expect(foreign.status == 403 && foreign.spidError == "Token is not authorized to access this user.")
                #expect(try await world.api("user/\(id)/agreements", token).status == status)
            }
        }
    }

    @Test("SPiD's API does not tell whether a user accepted another merchant's terms", arguments: Backend.available)
    func foreignTerms(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let rival = try await world.spidBackend(["tos_uri": "https://rival.example/terms"], of: world.rival)
            let loom = try await world.spidBackend(["tos_uri": "https://loom.example/terms"])
            let sister = try await world.spidBackend()
            for client in [rival, loom] {
                let token = try await world.signIn(with: client).require("access_token")
                let accepted = try await world.api("user/\(world.user)/agreements/accept", token, [:])
                #expect(accepted.status / 100 == 2, "\(accepted)")
            }
            let token = try await world.signIn(with: sister).require("access_token")
            #expect(try await world.api("terms?clientId=\(rival.id)", token).data["accepted"] == false)
            #expect(try await world.api("terms?clientId=\(loom.id)", token).data["accepted"] == true)
        }
    }

    // MARK: On pages

    @Test(
        "A sign-up agrees to the terms that its page showed, even if the client's terms change meanwhile",
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
            // The terms that were shown count, even if they have changed when the address is confirmed.
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
        "A sign-up confirmed in another browser agrees to the terms shown there, not to the first page's",
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

    /// Sends the form as a browser does, with one `terms` for each document.
    private func sign(
        up email: String, on page: Answer, in browser: inout Browser, of world: World, agreeing terms: [String]
    ) async throws -> Answer {
        let hidden = page.fields.filter { $0.key != "terms" }.map { ($0.key, $0.value) }
        let typed = [("email", email), ("password", World.password)]
        let asked = try await world.server.post(
            "/signup", form: hidden + terms.map { ("terms", $0) } + typed, cookies: browser.cookies)
        return try await browser.open(try #require(asked.header("location")))
    }

    @Test("A sign-up page shows no terms where there are none, and a form sent without terms agrees to none")
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

    @Test("A user who allows a client agrees to its terms; a user who denies it does not", arguments: Backend.available)
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

    @Test("A user's agreements to terms are deleted with the user", arguments: Backend.available)
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
