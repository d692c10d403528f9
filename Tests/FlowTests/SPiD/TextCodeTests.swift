import Foundation
import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@testable import Authentication

/// A SPiD-compatible app that asks for codes by text message, as account-sdk-ios and account-sdk-android do.
struct TextApp {
    let world: World
    let client: World.Actor

    init(_ world: World, _ changes: [JSON.Member] = []) async throws {
        self.world = world
        client = try await world.confidential([:])
        let members: [JSON.Member] = [
            .init("spid_compatible", true), .init("scope", "openid profile email"),
            .init("grant_types", ["passwordless", "refresh_token", "client_credentials"]),
        ]
        let changed = try await world.change("clients", client.id, .object(members + changes))
        try #require(changed.status == 200, "\(changed)")
    }

    func start(_ number: String = PhoneStory.number, connection: String = "sms") async throws -> Answer {
        try await world.server.post(
            "/passwordless/start",
            form: [
                ("client_id", client.id), ("client_secret", client.secret), ("connection", connection),
                ("locale", "nb_NO"), ("phone_number", number),
            ])
    }

    func resend(_ token: String) async throws -> Answer {
        try await world.server.post(
            "/passwordless/resend", form: [("client_id", client.id), ("passwordless_token", token)])
    }

    func redeem(
        _ token: String, _ code: String, identifier: String = PhoneStory.number, scope: String = "openid"
    ) async throws -> Answer {
        try await world.server.post(
            "/oauth/ro",
            form: [
                ("client_id", client.id), ("client_secret", client.secret), ("identifier", identifier),
                ("connection", "sms"), ("code", code), ("grant_type", "passwordless"), ("passwordless_token", token),
                ("scope", scope),
            ])
    }
}

@Suite("Codes by text message that SPiD's apps ask for") struct TextCodeTests {
    private static let number = PhoneStory.number

    private func expectError(
        _ answer: Answer, _ status: Int, _ type: String, says word: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = answer.json["error"]
        #expect(answer.status == status && error?["type"]?.string == type, "\(answer)", sourceLocation: sourceLocation)
        let hint = error?["description"]?.string ?? ""
        #expect(word.isEmpty || hint.contains(word), "\(hint)", sourceLocation: sourceLocation)
    }

    @Test(
        "A client redeems a code sent by text message for tokens of the verified number's user",
        arguments: Backend.available)
    func story(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            try await world.verifiesPhone()
            let app = try await TextApp(world)
            let token = try await app.start("0047 400 00 000").require("passwordless_token")
            let text = try await world.server.mail.letter(to: Self.number)
            let code = try #require(text.code)
            #expect(text.text.hasPrefix("\(code) er koden din for Loom."))
            let answer = try await app.redeem(token, code, identifier: "+47 400 00 000")
            #expect(answer.status == 200 && answer.json["user_id"]?.string == world.user, "\(answer)")
            let claims = try await world.idToken(in: answer)
            #expect(claims["amr"]?.strings == ["sms"] && claims["acr"] == "urn:spindle:sms")
            #expect(try await world.refresh(try answer.require("refresh_token"), as: app.client).status == 200)
            expectError(try await app.redeem(token, code), 400, "invalid_grant")
            // Again, with another token and another code.
            let first = try await app.start().require("passwordless_token")
            _ = try await world.textCode()
            let second = try await app.resend(first).require("passwordless_token")
            let again = try await world.textCode()
            expectError(try await app.redeem(second, again, identifier: "+4740000001"), 400, "invalid_grant")
            #expect(try await app.redeem(second, again).status == 200)
        }
    }

    @Test(
        "A request for a text code gets the same answers, and stores as many codes, for an unknown number",
        arguments: Backend.available)
    func unknown(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            try await world.verifiesPhone()
            let app = try await TextApp(world)
            func rows() async throws -> [Int] {
                try await world.server.database.read { db in
                    [
                        try db.rows("SELECT id FROM verifications").count,
                        try db.rows("SELECT name FROM throttles").count,
                    ]
                }
            }
            var written: [[Int]] = []
            var told: [[String]] = []
            // An unverified number in a profile is not that user's to read.
            let eva = try await world.person("eva@example.com")
            try await world.change("users", eva, ["phone_number": "+4740000002", "email_verified": true])
            for number in [Self.number, "+4740000001", "+4740000002"] {
                var words: [String] = []
                let before = try await rows()
                let first = try await app.start(number)
                let second = try await app.resend(try first.require("passwordless_token"))
                let token = try second.require("passwordless_token")
                for answer in [first, second] { words.append("\(answer.status) \(answer.body.utf8.count)") }
                for code in ["1", "12345", "1234567"] {
                    let answer = try await app.redeem(token, code, identifier: number)
                    expectError(answer, 400, "invalid_grant")
                    words.append(answer.body)
                }
                written.append(zip(try await rows(), before).map { $0 - $1 })
                told.append(words)
            }
            #expect(told[0] == told[1] && told[1] == told[2])
            #expect(written[1] == written[2] && written[0][0] == written[1][0])
            #expect(world.server.mail.letters(to: "+4740000001").isEmpty)
            #expect(world.server.mail.letters(to: "+4740000002").isEmpty)
        }
    }

    @Test(
        "Wrong text codes are throttled per phone number, however many passwordless tokens are requested",
        arguments: Backend.available)
    func guesses(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            try await world.verifiesPhone()
            let app = try await TextApp(world)
            // The user is not known from any device.
            try await world.server.database.write { db in _ = try db.execute("DELETE FROM known_devices") }
            var refused: Answer?
            for _ in 1...4 where refused == nil {
                let token = try await app.start().require("passwordless_token")
                for _ in 1...5 where refused == nil {
                    let answer = try await app.redeem(token, "1")
                    if answer.status == 429 { refused = answer }
                }
                if refused == nil { expectError(try await app.redeem(token, "2"), 400, "invalid_grant") }
            }
            let answer = try #require(refused)
            expectError(answer, 429, "too_many_requests")
            #expect(answer.header("retry-after") != nil)
        }
    }

    @Test(
        "One IP address may request ten texts; a number gets five, plus more for its user's known IP address",
        arguments: Backend.available)
    func flood(backend: Backend) async throws {
        try await PhoneStory.with(
            backend, settings: PhoneStory.settings.merging(["trusted_proxies": "127.0.0.1/32"]) { $1 }
        ) { world in
            try await world.verifiesPhone()
            let app = try await TextApp(world)
            func start(from address: String) async throws -> Answer {
                try await world.server.post(
                    "/passwordless/start",
                    [
                        "client_id": app.client.id, "connection": "sms", "locale": "en",
                        "phone_number": Self.number,
                    ], headers: ["X-Forwarded-For": address])
            }
            func sent() -> Int { world.server.mail.letters(to: Self.number).count }
            let before = sent()
            for number in 1...10 { #expect(try await start(from: "192.0.2.1").status == 200, "\(number)") }
            let refused = try await start(from: "192.0.2.1")
            expectError(refused, 429, "too_many_requests")
            #expect(refused.header("retry-after") != nil)
            for host in 2...9 { #expect(try await start(from: "192.0.2.\(host)").status == 200) }
            for _ in 1...5 { _ = try await world.textCode() }
            // The IP address where the user signed in has a share apart.
            let token = try await start(from: "127.0.0.1").require("passwordless_token")
            #expect(try await app.redeem(token, try await world.textCode()).status == 200)
            #expect(sent() - before == 6)
        }
    }

    @Test(
        "A text code gives no tokens for an unverified number, a disabled user or an address that must be verified",
        arguments: Backend.available)
    func gone(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            try await world.verifiesPhone()
            let app = try await TextApp(world, [.init("require_verified_email", true)])
            let token = try await app.start().require("passwordless_token")
            let code = try await world.textCode()
            try await world.change("users", world.user, ["email_verified": false])
            expectError(try await app.redeem(token, code), 400, "invalid_grant", says: "e-mail address")
            try await world.change("users", world.user, ["email_verified": true])
            let second = try await app.start().require("passwordless_token")
            let secondCode = try await world.textCode()
            try await world.change("users", world.user, ["disabled": true])
            expectError(try await app.redeem(second, secondCode), 400, "invalid_grant")
            #expect(try await app.start().status == 200)
            try await world.change("users", world.user, ["disabled": false])
            let third = try await app.start().require("passwordless_token")
            let thirdCode = try await world.textCode()
            try await world.change("users", world.user, ["phone_number_verified": false])
            expectError(try await app.redeem(third, thirdCode), 400, "invalid_grant")
            #expect(world.server.mail.letters(to: Self.number).count == 4)
        }
    }

    @Test("The refusal of a text code says that the sms setting is missing or the number invalid")
    func refused() async throws {
        try await World.with(.sqlite) { world in
            let app = try await TextApp(world)
            expectError(try await app.start(), 400, "invalid_request", says: "operator must set sms")
        }
        try await PhoneStory.with(.sqlite) { world in
            let app = try await TextApp(world)
            for number in ["", "40000000", "+47", "ada@example.com", String(repeating: "+47", count: 2000)] {
                expectError(try await app.start(number), 400, "invalid_request", says: "*phone_number*")
            }
            expectError(try await app.start(connection: "fax"), 400, "invalid_request", says: "connection")
        }
    }

    @Test(
        "A backend asks for codes through SPiD's API, by mail or by text, and its client redeems them",
        arguments: Backend.available)
    func backends(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            try await world.verifiesPhone()
            let app = try await TextApp(world)
            let token = try await world.clientToken(app.client)
            let started = try await world.server.post(
                "/api/2/passwordless/start", ["connection": "sms", "phoneNumber": Self.number], bearer: token)
            let first = try #require(started.data["passwordlessToken"]?.string, "\(started)")
            _ = try await world.textCode()
            let resent = try await world.server.post(
                "/api/2/passwordless/resend", ["passwordlessToken": first], bearer: token)
            let second = try #require(resent.data["passwordlessToken"]?.string, "\(resent)")
            #expect(try await app.redeem(second, try await world.textCode()).status == 200)
            let mailed = try await world.server.post(
                "/api/2/passwordless/start", ["connection": "email", "email": World.email], bearer: token)
            let third = try #require(mailed.data["passwordlessToken"]?.string)
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            #expect(try await app.redeem(third, code, identifier: World.email).status == 200)
            for (path, form) in [
                ("start", ["connection": "sms"]), ("start", ["connection": "fax"]), ("start", [:]), ("resend", [:]),
                ("resend", ["passwordlessToken": "a.b"]),
            ] {
                let answer = try await world.server.post(
                    "/api/2/passwordless/\(path)", form: form.map { ($0.key, $0.value) }, bearer: token)
                #expect(answer.status == 400 && answer.json["type"] == "error", "\(path) \(form) \(answer)")
            }
            let without = try await world.clientToken(try await world.spidBackend())
            let refused = try await world.server.post(
                "/api/2/passwordless/start", ["connection": "email", "email": World.email], bearer: without)
            #expect(refused.status == 400 && refused.json["type"] == "error", "\(refused)")
        }
    }

    @Test(
        "SPiD's API tells a first-party backend whether a phone number is a user's verified one",
        arguments: Backend.available)
    func status(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            try await world.change("users", world.user, ["phone_number": "+4740000003"])
            try await world.verifiesPhone()
            let loom = try await world.spidBackend()
            let token = try await world.clientToken(loom)
            func status(_ text: String, _ token: String?) async throws -> Answer {
                try await world.api("phone/\(TestServer.encode(text))/status", token)
            }
            func base64(_ number: String) -> String { Data(number.utf8).base64EncodedString() }
            let known = try await status("KzQ3NDAwMDAwMDA", token)
            #expect(known.status == 200 && known.json["object"] == "Phone")
            #expect(known.data == ["exists": true, "available": false, "verified": true])
            #expect(try await status(base64("+47 400 00 000"), token).data == known.data)
            // An unverified number is free.
            let free = try await status(base64("+4740000003"), token)
            #expect(free.data == ["exists": false, "available": true, "verified": false])
            for text in ["40000000", "KzQ3", base64("40000000"), "/w==", base64(World.email)] {
                let answer = try await status(text, token)
                #expect(answer.status == 400 && answer.body.contains("country code"), "\(text)")
            }
            #expect(try await status(base64(Self.number), nil).status == 401)
            let user = try await world.signIn(with: loom).require("access_token")
            #expect(try await status(base64(Self.number), user).status == 401)
            #expect(try await status(base64(Self.number), try await world.clientToken(world.backend)).status == 403)
            let stranger = try await world.clientToken(try await world.spidBackend(["first_party": false]))
            #expect(try await status(base64(Self.number), stranger).status == 403)
        }
    }

    // MARK: What they use up

    @Test(
        "Refused requests for text messages do not count against the client's limit of mails and sign-ups",
        arguments: Backend.available)
    func refusedTexts(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            let app = try await TextApp(world)
            let bucket = Throttle.Bucket("sign-ups by|\(app.client.id)", burst: 600, refill: .seconds(6))
            func fullAt() async throws -> Timestamp? {
                try await world.server.database.rows(
                    "SELECT theoretical_arrival FROM throttles WHERE name = \(bucket.name)"
                ).first?.get("theoretical_arrival")
            }
            // Ten for the IP address, and thirty for the client.
            for number in 10...49 { #expect(try await app.start("+474000\(number)00").status == 200, "\(number)") }
            let before = try #require(try await fullAt())
            for number in 50...55 { #expect(try await app.start("+474000\(number)00").status == 429, "\(number)") }
            #expect(try await fullAt() == before)
        }
    }

    @Test(
        "One client's flood of text messages leaves thirty of its merchant's sixty to the other clients",
        arguments: Backend.available)
    func otherClients(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            let (app, other) = (try await TextApp(world), try await TextApp(world))
            for number in 10...99 { _ = try await app.start("+474000\(number)00") }
            #expect(try await app.start().status == 429)
            // What is left of the merchant's sixty.
            for number in 10...39 { #expect(try await other.start("+474001\(number)00").status == 200, "\(number)") }
            #expect(try await other.start().status == 429)
        }
    }
}
