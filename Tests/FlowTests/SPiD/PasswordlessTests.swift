import Cryptography
import Directory
import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

/// A SPiD-compatible app that asks for codes by mail itself.
private struct CodeApp {
    let world: World
    let client: World.Actor

    init(_ world: World, _ changes: KeyValuePairs<String, JSON> = [:]) async throws {
        self.world = world
        let members: [JSON.Member] = [
            .init("spid_compatible", true), .init("scope", "openid profile email"),
            .init("grant_types", ["passwordless", "refresh_token", "client_credentials"]),
        ]
        client = try await world.confidential([:])
        let all = members.filter { member in !changes.contains { $0.key == member.name } }
        let changed = try await world.change(
            "clients", client.id, .object(all + changes.map { JSON.Member($0.key, $0.value) }))
        try #require(changed.status == 200, "\(changed)")
    }

    /// As account-sdk-android sends it, without a secret; an empty value leaves a field out.
    func start(_ changes: KeyValuePairs<String, String> = [:], at path: String = "start") async throws -> Answer {
        try await send("/passwordless/\(path)", ["connection": "email", "locale": "en", "email": World.email], changes)
    }

    func resend(_ token: String, _ changes: KeyValuePairs<String, String> = [:]) async throws -> Answer {
        try await send("/passwordless/resend", ["passwordless_token": token], changes)
    }

    /// As account-sdk-ios sends it, with the secret in the body.
    func redeem(
        _ token: String, _ code: String, _ changes: KeyValuePairs<String, String> = [:]
    ) async throws -> Answer {
        let form: KeyValuePairs = [
            "client_secret": client.secret, "connection": "email", "code": code, "grant_type": "passwordless",
            "passwordless_token": token, "scope": "openid",
        ]
        return try await send("/oauth/ro", form, changes)
    }

    private func send(
        _ path: String, _ form: KeyValuePairs<String, String>, _ changes: KeyValuePairs<String, String>
    ) async throws -> Answer {
        var pairs = [("client_id", client.id)] + form.map { ($0.key, $0.value) }
        for (name, value) in changes {
            pairs.removeAll { $0.0 == name }
            if !value.isEmpty { pairs.append((name, value)) }
        }
        return try await world.server.post(path, form: pairs)
    }

    /// A token, and the code that was mailed with it.
    func asked(_ email: String = World.email) async throws -> (token: String, code: String) {
        let token = try await start(["email": email]).require("passwordless_token")
        return (token, try #require(try await world.server.mail.letter(to: email).code))
    }
}

private func expectNested(
    _ answer: Answer, _ status: Int, _ type: String, says word: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let error = answer.json["error"]
    #expect(answer.status == status, "\(answer)", sourceLocation: sourceLocation)
    #expect(error?["code"]?.integer == Int64(status), sourceLocation: sourceLocation)
    #expect(error?["type"]?.string == type, "\(answer)", sourceLocation: sourceLocation)
    #expect(error?["description"]?.string?.contains(word) == true || word.isEmpty, sourceLocation: sourceLocation)
    #expect(error?["description"]?.string?.isEmpty == false, sourceLocation: sourceLocation)
    #expect(answer.json.members?.map(\.name) == ["error"], sourceLocation: sourceLocation)
}

@Suite("Codes by mail that SPiD's apps ask for: /passwordless and /oauth/ro") struct PasswordlessTests {
    @Test("A client redeems a mailed passwordless code for tokens of the address's user", arguments: Backend.available)
    func story(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await CodeApp(world)
            let (token, code) = try await app.asked()
            let answer = try await app.redeem(token, code, ["identifier": " ADA@example.com "])
            #expect(answer.status == 200)
            #expect(answer.json["user_id"]?.string == world.user && answer.json["token_type"] == "Bearer")
            #expect(answer.json["expires_in"]?.integer == 3600 && answer.json["scope"] == "openid")
            #expect(answer.json["is_admin"] == false && answer.json["server_time"]?.integer != nil)
            #expect(answer.header("cache-control") == "no-store")
            let claims = try await world.idToken(in: answer)
            #expect(claims["sub"]?.string == world.user && claims["acr"] == "urn:spindle:mail")
            #expect(claims["amr"]?.strings == ["otp"])
            #expect(try await world.refresh(try answer.require("refresh_token"), as: app.client).status == 200)
            let ada = try await world.server.get("/admin/v1/users/\(world.user)", bearer: world.admin)
            #expect(ada.json["email_verified"] == true)
            let server = try await world.clientToken(app.client)
            let logins = try await world.api("user/\(world.user)/logins", server)
            #expect(logins.body.contains("\"api\""))
            // A code works once.
            expectNested(try await app.redeem(token, code), 400, "invalid_grant")
        }
    }

    @Test(
        "A passwordless code sent again comes in the first mail's language, unless the app asks for another",
        arguments: Backend.available)
    func languages(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await CodeApp(world)
            func text() async throws -> String { try await world.server.mail.letter(to: World.email).text }
            let first = try await app.start(["locale": "nb_NO"]).require("passwordless_token")
            let norwegian = "Skriv inn denne koden"
            #expect(try await text().contains(norwegian))
            // account-sdk-android asks again without a locale; and the new token is used to ask once more.
            let second = try await app.resend(first).require("passwordless_token")
            #expect(try await text().contains(norwegian))
            let third = try await app.resend(second)
            let letter = try await world.server.mail.letter(to: World.email)
            #expect(letter.text.contains(norwegian))
            let swedish = try await app.resend(second, ["locale": "sv_SE"])
            #expect(swedish.status == 200)
            #expect(try await text().contains("Skriv in den här koden"))
            let code = try #require(letter.code)
            #expect(try await app.redeem(try third.require("passwordless_token"), code).status == 200)
        }
    }

    @Test(
        "A passwordless code is redeemed only with the client's secret, in the body or in the header",
        arguments: Backend.available)
    func proof(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await CodeApp(world)
            let (token, code) = try await app.asked()
            expectNested(
                try await app.redeem(token, code, ["client_secret": ""]), 401, "invalid_client", says: "client_id")
            expectNested(
                try await app.redeem(token, code, ["client_secret": "wrong"]), 401, "invalid_client", says: "client_id")
            let form: KeyValuePairs = ["grant_type": "passwordless", "code": code, "passwordless_token": token]
            #expect(try await world.server.post("/oauth/ro", form, basic: app.client.basic).status == 200)
            // Asking for a code needs no secret, but a wrong one is refused.
            #expect(try await app.start(["client_secret": app.client.secret]).status == 200)
            expectNested(
                try await app.start(["client_secret": "wrong"]), 401, "invalid_client", says: "client_id")
            expectNested(
                try await app.start(["client_id": "nobody"]), 401, "invalid_client", says: "client_id")
            expectNested(try await app.start(["client_id": ""]), 401, "invalid_client", says: "client_id")
        }
    }

    @Test(
        "A request for a mailed code gets the same answers, and stores as many codes, for an unknown address",
        arguments: Backend.available)
    func unknown(backend: Backend) async throws {
        try await World.with(backend) { world in
            func rows() async throws -> [Int] {
                try await world.server.database.read { db in
                    [
                        try db.rows("SELECT id FROM verifications").count,
                        try db.rows("SELECT name FROM throttles").count,
                    ]
                }
            }
            let app = try await CodeApp(world)
            var written: [[Int]] = []
            var told: [[String]] = []
            for email in [World.email, "eva@example.com"] {
                var words: [String] = []
                let before = try await rows()
                let first = try await app.start(["email": email])
                let second = try await app.resend(try first.require("passwordless_token"))
                let token = try second.require("passwordless_token")
                #expect(token.utf8.count == (try first.require("passwordless_token")).utf8.count)
                for answer in [first, second] {
                    words.append("\(answer.status) \(answer.body.utf8.count) \(answer.header("cache-control") ?? "")")
                }
                for code in ["1", "abc", "12345", "1234567"] {
                    let answer = try await app.redeem(token, code)
                    expectNested(answer, 400, "invalid_grant")
                    words.append(answer.body)
                }
                let after = try await rows()
                written.append(zip(after, before).map { $0 - $1 })
                told.append(words)
            }
            #expect(told[0] == told[1])
            #expect(written[0][0] == 2 && written[0][0] == written[1][0])
            #expect(world.server.mail.letters(to: "eva@example.com").isEmpty)
        }
    }

    @Test("Five wrong codes end a passwordless token, and a code lives ten minutes", arguments: Backend.available)
    func ends(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await CodeApp(world)
            let (token, code) = try await app.asked()
            let wrong = code == "000000" ? "000001" : "000000"
            for _ in 1...5 { expectNested(try await app.redeem(token, wrong), 400, "invalid_grant") }
            expectNested(try await app.redeem(token, code), 400, "invalid_grant")
            expectNested(try await app.resend(token), 400, "invalid_request", says: "passwordless")
            let (late, lateCode) = try await app.asked()
            world.server.clock.advance(by: .minutes(10))
            expectNested(try await app.redeem(late, lateCode), 400, "invalid_grant")
            expectNested(try await app.resend(late), 400, "invalid_request", says: "passwordless")
        }
    }

    @Test(
        "Wrong passwordless codes are throttled per user, however many passwordless tokens are requested",
        arguments: Backend.available)
    func guesses(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await CodeApp(world)
            var refused: Answer?
            for _ in 1...4 where refused == nil {
                let token = try await app.start().require("passwordless_token")
                for _ in 1...5 where refused == nil {
                    let answer = try await app.redeem(token, "1")
                    if answer.status == 429 { refused = answer }
                }
            }
            let answer = try #require(refused)
            expectNested(answer, 429, "too_many_requests")
            #expect(answer.header("retry-after") != nil)
        }
    }

    @Test(
        "A mailed code can be sent again, but not by a passwordless token that is redeemed or invalid",
        arguments: Backend.available)
    func resent(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await CodeApp(world)
            let (first, firstCode) = try await app.asked()
            let second = try await app.resend(first).require("passwordless_token")
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            #expect(second != first)
            if code != firstCode { expectNested(try await app.redeem(second, firstCode), 400, "invalid_grant") }
            #expect(try await app.redeem(second, code).status == 200)
            for dead in [
                second, "dead", "a.b", "a.b.c", ".", first + "x", "", "\u{1}.\u{2}",
                String(repeating: "a", count: 4000),
            ] {
                expectNested(try await app.resend(dead), 400, "invalid_request", says: "passwordless")
            }
        }
    }

    @Test(
        "A browser cannot redeem an app's mailed code with the passwordless token as its form cookie",
        arguments: Backend.available)
    func asCookie(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await CodeApp(world)
            let (token, code) = try await app.asked()
            let parts = token.split(separator: ".").map(String.init)
            for cookie in [
                "passwordless|\(app.client.id)|\(parts[1])", "\(app.client.id)|\(parts[1])", parts[1], token,
            ] {
                let cookies = ["Cookie": "spindle_form=\(cookie)"]
                let page = try await world.server.get("/login", headers: cookies).body
                let form = try #require(page.firstMatch(of: /name="form_token" value="([^"]+)"/))
                let answer = try await world.server.post(
                    "/login/code/check",
                    ["form_token": String(form.output.1), "verification": parts[0], "code": code], headers: cookies)
                #expect(answer.status != 303 && answer.header("set-cookie")?.contains("spindle_session") != true)
            }
            #expect(try await app.redeem(token, code).status == 200)
        }
    }

    @Test(
        "A passwordless token is refused from another client, and with another user's address as identifier",
        arguments: Backend.available)
    func others(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (app, other) = (try await CodeApp(world), try await CodeApp(world))
            let (token, code) = try await app.asked()
            expectNested(try await other.redeem(token, code), 400, "invalid_grant")
            expectNested(try await other.resend(token), 400, "invalid_request", says: "passwordless")
            expectNested(try await app.redeem(token, code, ["identifier": "eva@example.com"]), 400, "invalid_grant")
            expectNested(try await app.redeem(token, code, ["scope": "admin"]), 400, "invalid_scope")
            expectNested(try await app.redeem(token, code, ["code": ""]), 400, "invalid_request", says: "code")
            expectNested(
                try await app.redeem(token, code, ["passwordless_token": ""]), 400, "invalid_request",
                says: "passwordless")
            expectNested(
                try await app.redeem(token, code, ["grant_type": "password"]), 400, "unsupported_grant_type")
            // None of that spent the code.
            #expect(try await app.redeem(token, code).status == 200)
        }
    }

    @Test(
        "Only SPiD-compatible clients with the passwordless grant can redeem mailed codes, only at /oauth/ro",
        arguments: Backend.available)
    func clients(backend: Backend) async throws {
        try await World.with(backend) { world in
            let plain = try await world.change("clients", world.backend.id, ["grant_types": ["passwordless"]])
            expectProblem(plain, 400, member: "grant_types")
            let app = try await CodeApp(world)
            expectProblem(
                try await world.change("clients", app.client.id, ["spid_compatible": false]), 400,
                member: "grant_types")
            let (token, code) = try await app.asked()
            let elsewhere = try await world.token(
                ["grant_type": "passwordless", "passwordless_token": token, "code": code], as: app.client)
            #expect(elsewhere.json["error"] == "unsupported_grant_type")
            let without = try await CodeApp(world, ["grant_types": ["refresh_token"]])
            expectNested(try await without.start(), 400, "unauthorized_client")
            expectNested(try await without.redeem(token, code), 400, "unauthorized_client")
            try await world.change("clients", app.client.id, ["disabled": true])
            expectNested(try await app.start(), 401, "invalid_client", says: "client_id")
            expectNested(try await app.redeem(token, code), 401, "invalid_client", says: "client_id")
        }
    }

    @Test(
        "A mailed code brings no tokens for a disabled user or one whose deletion is pending",
        arguments: Backend.available)
    func gone(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await CodeApp(world)
            let (token, code) = try await app.asked()
            try await world.change("users", world.user, ["disabled": true])
            expectNested(try await app.redeem(token, code), 400, "invalid_grant")
            #expect(try await app.start().status == 200)
            try await world.change("users", world.user, ["disabled": false])
            let (later, laterCode) = try await app.asked()
            _ = try await world.server.database.write { db in
                try db.execute(
                    """
                    UPDATE users SET deletion_due_at = \(world.server.clock.now.milliseconds + 1)
                    WHERE email = \(World.email)
                    """)
            }
            expectNested(try await app.redeem(later, laterCode), 400, "invalid_grant")
        }
    }

    @Test(
        "A mailed code that proves an address for the first time ends the older password and refresh tokens",
        arguments: Backend.available)
    func takeover(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await CodeApp(world)
            let squatter = try await world.signIn()
            let (token, code) = try await app.asked()
            #expect(try await app.redeem(token, code).status == 200)
            #expect(try await world.signIn().error == "invalid_grant")
            #expect(try await world.refresh(try squatter.require("refresh_token")).error == "invalid_grant")
        }
    }

    @Test(
        "A request for a code with a bad address, number or connection is refused in words SPiD's SDKs know",
        arguments: Backend.available)
    func refusals(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await CodeApp(world)
            for email in ["no address", "", "@", "a@b@c", "ada@example.com\r\nBcc: x@example.com"] {
                expectNested(try await app.start(["email": email]), 400, "invalid_request", says: "*email*")
            }
            for number in ["12", "+4740000000"] {
                let answer = try await app.start(["connection": "sms", "phone_number": number])
                expectNested(answer, 400, "invalid_request", says: "*phone_number*")
            }
            for connection in ["", "fax"] {
                expectNested(
                    try await app.start(["connection": connection]), 400, "invalid_request", says: "connection")
            }
            #expect(try await app.start(["locale": "nb_NO"]).status == 200)
            #expect(try await world.server.mail.letter(to: World.email).subject.contains("Koden din"))
        }
    }

    @Test("A web page cannot request passwordless codes without the client's secret", arguments: Backend.available)
    func pages(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await CodeApp(world)
            let form: KeyValuePairs = ["client_id": app.client.id, "connection": "email", "email": World.email]
            for headers in [["Origin": "https://rogue.example"], ["Origin": "null"], ["Sec-Fetch-Site": "cross-site"]] {
                let answer = try await world.server.post("/passwordless/start", form, headers: headers)
                expectNested(answer, 400, "invalid_request")
                #expect(
                    try await world.server.post(
                        "/passwordless/start", form, basic: app.client.basic, headers: headers
                    ).status == 200)
            }
        }
    }

    @Test(
        "One IP address may request thirty mailed codes at once; the next request gets 429",
        arguments: Backend.available)
    func flood(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await CodeApp(world)
            for number in 1...30 {
                #expect(try await app.start(["email": "user-\(number)@example.com"]).status == 200)
            }
            let refused = try await app.start()
            expectNested(refused, 429, "too_many_requests")
            #expect(refused.header("retry-after") != nil)
        }
    }

    @Test(
        "A backend that sends its secret may request mailed codes beyond the limit of its IP address",
        arguments: Backend.available)
    func backendFlood(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await CodeApp(world)
            let secret = app.client.secret
            for number in 1...40 {
                let asked = try await app.start(["email": "user-\(number)@example.com", "client_secret": secret])
                #expect(asked.status == 200)
            }
            #expect(try await app.start().status == 429, "an app has its address's number")
            let token = try await app.start(["client_secret": secret]).require("passwordless_token")
            _ = try await world.server.mail.letter(to: World.email)
            #expect(try await app.resend(token, ["client_secret": secret]).status == 200)
        }
    }
}
