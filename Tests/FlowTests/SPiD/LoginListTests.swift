import Cryptography
import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("SPiD's API lists attempts to sign in")
struct LoginListTests {
    private func logins(_ world: World, _ token: String, _ path: String = "logins") async throws -> [JSON] {
        let answer = try await world.api(path, token)
        #expect(answer.status == 200, "\(path): \(answer)")
        return answer.data.array ?? []
    }

    @Test(
        "An app's password attempt, right or wrong, is in SPiD's list of logins with all its members",
        arguments: Backend.available)
    func api(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["trusted_proxies": "127.0.0.1"]) { world in
            let loom = try await world.spidBackend()
            let token = try await world.clientToken(loom)
            #expect(try await logins(world, token).isEmpty)
            let headers = [
                "X-Forwarded-For": "203.0.113.9", "User-Agent": "Loom/1 " + String(repeating: "x", count: 400),
            ]
            for password in ["not hers", World.password] {
                world.server.clock.advance(by: .seconds(1))
                _ = try await world.token(
                    ["grant_type": "password", "username": World.email, "password": password], as: loom,
                    headers: headers)
            }
            let found = try await logins(world, token)
            #expect(found.map { $0["status"] } == ["true", "false"], "the newest first")
            let login = try #require(found.first)
            let agent = try #require(login["userAgent"]?.string)
            #expect(agent.hasPrefix("Loom/1 xxx") && agent.count == 300)
            #expect(login["clientId"] == .string(loom.id) && login["merchantId"] == "1")
            #expect(login["userId"] == .string(world.user) && login["email"] == "ada@example.com")
            #expect(login["type"] == "api" && login["ip"] == "203.0.113.9" && login["provider"] == .null)
            #expect(login["created"] == "2027-01-15 08:00:02" && login["referer"] == "")
            #expect(login["initialReferer"] == .null && login["trackingRef"] == false && login["trackingTag"] == false)
            let label = Digest.md5Label(Array("ada@example.com203.0.113.9\(agent)".utf8))
            #expect(
                login["hash"]?.string == label.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
            #expect(try await logins(world, token, "user/\(world.user)/logins") == found)
            #expect(try await logins(world, token, "logins?userId=\(world.user)") == found)
        }
    }

    @Test(
        "Sign-ins at a deleted client stay recorded for their users, without the client",
        arguments: Backend.available)
    func deletedClient(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            #expect(try await world.signIn(with: loom).status == 200)
            func logins(of client: String?) async throws -> Int {
                try await world.server.database.rows(
                    "SELECT id FROM logins WHERE user_id = \(world.user) AND COALESCE(client_id, '') = \(client ?? "")"
                ).count
            }
            #expect(try await logins(of: loom.id) == 1)
            let gone = try await world.server.send("DELETE", "/admin/v1/clients/\(loom.id)", bearer: world.admin)
            #expect(gone.status == 204)
            #expect(try await logins(of: loom.id) == 0)
            #expect(try await logins(of: nil) == 1)
        }
    }

    @Test(
        "SPiD's list of logins has sign-ins on this server's pages, by mailed code and by session code",
        arguments: Backend.available)
    func pages(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let token = try await world.clientToken(loom)
            // The first proof of an address would remove the password.
            try await world.change("users", world.user, ["email_verified": true])
            _ = try await world.signIn(with: loom)
            let path = world.authorizeAddress(for: loom)
            var visitor = BrowserUser(world)
            let page = try await visitor.browser.open(path)
            for password in ["not hers", World.password] {
                _ = try await visitor.browser.submit(page, ["email": World.email, "password": password])
            }
            var other = BrowserUser(world)
            let login = try await other.browser.open(path)
            let asked = try await other.press(login, action: "/login/code", ["email": World.email])
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            #expect(try await other.browser.submit(asked, ["code": code]).status == 303)
            var found = try await logins(world, token)
            #expect(found.count == 4)
            #expect(found.filter { $0["type"] == "normal" }.count == 3)
            #expect(found.filter { $0["status"] == "false" }.count == 1)

            // A sign-in without a client is in no client's list; a session code counts for the app that bought it.
            try await visitor.browser.signIn()
            #expect(try await logins(world, token).count == 4)
            let session = try await world.sessionCode(of: try await world.signIn())
            #expect(try await visitor.browser.open("/auth/session/\(session)").status == 302)
            found = try await logins(world, token, "logins?filters=merchant")
            #expect(found.filter { $0["type"] == "auto" }.map { $0["clientId"] } == [.string(world.app.id)])
            #expect(try await logins(world, token).count == 4, "its own alone unless said")
            #expect(try await logins(world, token, "logins?contextClientId=\(world.app.id)").count == 2)
        }
    }

    @Test(
        "SPiD's list of logins can be filtered by IP address, outcome and time, and read in pages",
        arguments: Backend.available)
    func filters(_ backend: Backend) async throws {
        try await World.with(backend, settings: ["trusted_proxies": "127.0.0.1"]) { world in
            let loom = try await world.spidBackend()
            let token = try await world.clientToken(loom)
            for (minute, address) in ["192.0.2.1", "192.0.2.2", "192.0.2.1"].enumerated() {
                let password = minute == 1 ? "not hers" : World.password
                _ = try await world.signIn(with: loom, password: password, from: address)
                world.server.clock.advance(by: .minutes(1))
            }
            for path in ["logins", "user/\(world.user)/logins"] {
                #expect(try await logins(world, token, path).count == 3)
                #expect(try await logins(world, token, path + "?ip=192.0.2.1").count == 2)
                #expect(try await logins(world, token, path + "?ip=192.0.2.9").isEmpty)
                #expect(try await logins(world, token, path + "?status=false").map { $0["ip"] } == ["192.0.2.2"])
                #expect(try await logins(world, token, path + "?status=true").count == 2)
                #expect(try await logins(world, token, path + "?since=2027-01-15+08:01:00").count == 2)
                #expect(try await logins(world, token, path + "?until=2027-01-15+08:01:00&limit=1").count == 1)
                #expect(try await logins(world, token, path + "?offset=2").count == 1)
                #expect(try await logins(world, token, path + "?since=today").count == 3)
                for bad in ["?status=maybe", "?limit=x", "?filters=deleted", "?since=someday"] {
                    #expect(try await world.api(path + bad, token).status == 400, "\(bad)")
                }
            }
            #expect(try await world.api("logins?userId=x", token).status == 400)
            #expect(try await logins(world, token, "logins?userId=1234567890123456").isEmpty)
        }
    }

    @Test("A backend sees logins of users it knows, at clients of its merchant only", arguments: Backend.available)
    func bounds(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let (loom, other) = (try await world.spidBackend(), try await world.spidBackend())
            let token = try await world.clientToken(loom)
            let rival = try await world.clientToken(try await world.spidBackend(of: world.rival))
            // A failed attempt does not make the user known to the client.
            try await world.server.database.change("DELETE FROM connections")
            _ = try await world.signIn(with: loom, password: "a guess")
            #expect(try await logins(world, token).isEmpty)
            #expect(try await world.api("user/\(world.user)/logins", token).status == 403)
            _ = try await world.signIn(with: other)
            let wide = try await logins(world, token, "logins?filters=merchant")
            #expect(wide.count == 2)
            #expect(wide.allSatisfy { $0["email"] == "" }, "the address of a user who has not used the client")
            _ = try await world.signIn(with: loom)
            #expect(try await logins(world, token).count == 2)
            #expect(try await logins(world, rival, "logins?filters=merchant").isEmpty)
            #expect(try await world.api("user/\(world.user)/logins", rival).status == 403)
            #expect(try await world.api("user/x/logins", token).status == 404)
            let phone = try await world.signIn().require("access_token")
            #expect(try await world.api("logins", phone).status == 401)
            for path in ["logins", "user/\(world.user)/logins"] {
                #expect(try await world.api(path, try await world.clientToken(world.backend)).status == 403)
            }
        }
    }

    @Test("A user's own token lists that user's logins at the token's app only", arguments: Backend.available)
    func own(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let mary = try await world.person("mary@example.com")
            _ = try await world.signIn(with: loom, as: "mary@example.com")
            _ = try await world.signIn(with: loom, password: "a guess")
            world.server.clock.advance(by: .seconds(1))
            let phone = try await world.signIn().require("access_token")
            let token = try await world.signIn(with: loom).require("access_token")
            let path = "user/\(world.user)/logins"
            #expect(try await logins(world, token, path).map { $0["status"] } == ["true", "false"])
            #expect(try await logins(world, phone, path).map { $0["clientId"] } == [.string(world.app.id)])
            #expect(try await logins(world, token, path + "?userId=\(mary)").count == 2, "no other user's")
            #expect(try await world.api("user/\(mary)/logins", token).status == 403)
            let stranger = try await world.spidBackend(["first_party": false])
            let other = try await world.signIn(with: stranger).require("access_token")
            #expect(try await logins(world, other, path).map { $0["email"] } == [""])
            #expect(try await world.api(path + "?filters=merchant", other).status == 403)
        }
    }

    @Test(
        "A user's token cannot list that user's logins at another app of the merchant, but the backend can",
        arguments: Backend.available)
    func otherApp(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let (loom, other) = (try await world.spidBackend(), try await world.spidBackend())
            _ = try await world.signIn(with: other)
            let token = try await world.signIn(with: loom).require("access_token")
            let path = "user/\(world.user)/logins?contextClientId="
            let refused = try await world.api(path + other.id, token)
            #expect(refused.status == 403 && refused.data == .null, "\(refused)")
            #expect(try await logins(world, token, path + loom.id).map { $0["clientId"] } == [.string(loom.id)])
            // The app's backend may.
            let own = try await world.clientToken(loom)
            #expect(try await logins(world, own, path + other.id).map { $0["clientId"] } == [.string(other.id)])
        }
    }

    @Test(
        "A sign-in attempt for an unknown user, or one that the throttle refuses, is not recorded",
        arguments: Backend.available)
    func unknown(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom, as: "nobody@example.com")
            _ = try await world.signIn(with: loom)
            for _ in 0..<15 { _ = try await world.signIn(with: loom, password: "a guess") }
            let kept: Int = try await world.server.database.read { db in
                Int(try db.rows("SELECT COUNT(*) AS count FROM logins").first?.get("count", as: Int64.self) ?? 0)
            }
            let shown = try await logins(world, try await world.clientToken(loom))
            #expect(kept == shown.count && kept == 11)
        }
    }

    @Test("The sweep deletes a recorded sign-in attempt after ninety days", arguments: Backend.available)
    func retention(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom)
            let retention = Retention(database: world.server.database)
            for (days, count) in [(Int64(89), 1), (1, 0)] {
                world.server.clock.advance(by: .days(days))
                #expect(await retention.sweep(only: ["logins"], at: world.server.clock.now).failures.isEmpty)
                #expect(try await logins(world, try await world.clientToken(loom)).count == count)
            }
        }
    }

    @Test(
        "A third party does not learn its users' IP addresses and browsers from the list of logins",
        arguments: Backend.available)
    func places(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let third = try await world.spidBackend(["first_party": false, "scope": "openid email"])
            let (own, address) = (try await world.clientToken(third), "127.0.0.1")
            _ = try await world.signIn(scope: "openid email", with: third)
            for path in ["logins", "user/\(world.user)/logins"] {
                let found = try await world.api(path, own)
                #expect(found.status == 200 && found.data.array?.isEmpty == false, "\(found)")
                #expect(found.data.array?.allSatisfy { $0["ip"] == "" && $0["userAgent"] == "" } == true, "\(found)")
                #expect(try await world.api("\(path)?ip=\(address)", own).status == 403)
            }
        }
    }

    @Test("A login's e-mail address is not shown to a token whose scope lacks it", arguments: Backend.available)
    func withoutEmail(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let plain = try await world.confidential(["scope": "openid email"])
            let path = "/api/2/user/\(world.user)/logins"
            for (scope, email) in [("openid", ""), ("openid email", World.email)] {
                let token = try await world.signIn(scope: scope, with: plain).require("access_token")
                let logins = try await world.server.get(path, bearer: token).data.array ?? []
                #expect(!logins.isEmpty && logins.allSatisfy { $0["email"] == .string(email) }, "\(scope): \(logins)")
            }
        }
    }

    @Test(
        "A list of logins by an imported UUID does not tell a backend of a user whom it does not know",
        arguments: Backend.available)
    func keptUUID(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let kept = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
            let random = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
            try await world.newcomer(keeping: kept)
            for changes: KeyValuePairs<String, JSON> in [[:], ["first_party": false]] {
                let token = try await world.clientToken(try await world.spidBackend(changes))
                func ask(_ uuid: String) async throws -> (answer: Answer, gist: String) {
                    let answer = try await world.api("logins?userId=\(uuid)", token)
                    let members = (answer.json.members ?? []).filter { $0.name != "request" }
                    return (answer, JSON.object(members).text.replacing(uuid, with: ""))
                }
                let found = try await ask(kept)
                let unknown = try await ask(random)
                #expect(found.answer.status == 200 && unknown.answer.status == 200, "\(found) \(unknown)")
                #expect(found.answer.data.array?.isEmpty == true && found.gist == unknown.gist)
                for bad in ["x", kept + "0", String(kept.dropLast()), World.email] {
                    #expect(try await world.api("logins?userId=\(bad)", token).status == 400, "\(bad)")
                }
            }
        }
    }
}
