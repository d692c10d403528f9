import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@Suite("Users verify the phone number that codes are sent to")
struct PhoneTests {
    private static let number = PhoneStory.number

    @Test("A phone number is verified by a code in a text message", arguments: Backend.available)
    func verified(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            var visitor = try await world.signedIn()
            #expect(try await visitor.browser.open("/account").body.contains("href=\"/account/phones\""))
            let asked = try await visitor.asksForText("+47 400 00 000")
            #expect(asked.status == 200 && asked.body.contains("<h1>Check your phone</h1>"))
            let text = try await world.server.mail.letter(to: Self.number)
            let code = try #require(text.code)
            #expect(text.text.hasPrefix("\(code) is your code for spindle.test."))
            #expect(try await world.user()["phone_number_verified"] == nil, "not yet")
            let done = try await visitor.browser.submit(asked, ["code": code])
            #expect(done.header("location") == "/account/phones?done=added")
            let page = try await visitor.follow(done)
            #expect(page.body.contains("Your number is confirmed.") && page.body.contains(Self.number))
            let told = try await world.server.mail.letter(to: World.email)
            #expect(told.text.contains("+47…00") && !told.text.contains(Self.number))
            #expect(told.link(containing: "/account/phones") != nil)
            let ada = try await world.user()
            #expect(ada["phone_number"]?.string == Self.number && ada["phone_number_verified"] == true)
        }
    }

    @Test(
        "Claims and SPiD's user object say that a phone number is verified only while it is the profile's",
        arguments: Backend.available)
    func shown(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            let loom = try await world.spidBackend(["scope": "openid profile email phone"])
            let token = try await world.signIn(scope: "openid phone", with: loom).require("access_token")
            func shown() async throws -> [JSON?] {
                let claims = try await world.server.get("/oauth/userinfo", bearer: token).json
                let user = try await world.api("user/\(world.user)", token).data
                return [
                    claims["phone_number_verified"], user["phoneNumberVerified"],
                    user["phoneNumbers"]?.array?.first?["verified"],
                ]
            }
            try await world.verifiesPhone()
            #expect(try await shown() == [true, true, "true"])
            var visitor = try await world.signedIn()
            _ = try await visitor.change("profile", ["phone_number": "+4740000001"])
            #expect(try await shown() == [false, false, nil])
            _ = try await visitor.change("profile", ["phone_number": Self.number])
            #expect(try await shown() == [true, true, "true"])
            let page = try await visitor.browser.open("/account/phones")
            let removed = try await visitor.press(page, action: "/account/phones/remove")
            #expect(removed.header("location") == "/account/phones?done=removed")
            #expect(try await shown() == [false, false, nil])
        }
    }

    @Test(
        "Only a user who enters a phone number's code learns that it is taken; once unverified, it is free",
        arguments: Backend.available)
    func taken(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            try await world.verifiesPhone()
            let eva = try await world.person("eva@example.com")
            try await world.change("users", eva, ["email_verified": true])
            var visitor = try await world.signedIn(as: "eva@example.com")
            let asked = try await visitor.asksForText(Self.number)
            let free = try await visitor.asksForText("+4740000009")
            #expect(asked.status == 200 && asked.status == free.status)
            let late = try await visitor.browser.submit(asked, ["code": try await world.textCode()])
            #expect(late.status == 409 && late.isPage && late.body.contains("<h1>This number is taken</h1>"))
            #expect(try await world.user()["phone_number_verified"] == true)
            try await world.change("users", world.user, ["phone_number_verified": false])
            #expect(try await world.user()["phone_number_verified"] == false)
            try await world.verifiesPhone(as: "eva@example.com")
            expectProblem(
                try await world.change("users", world.user, ["phone_number_verified": true]), 400,
                member: "phone_number_verified")
        }
    }

    @Test(
        "Adding a phone number requires a recent sign-in, a verified e-mail address and a valid form token",
        arguments: Backend.available)
    func guarded(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            var visitor = try await world.signedIn()
            let page = try await visitor.browser.open("/account/phones")
            let foreign = try await visitor.browser.submit(
                page, ["phone_number": Self.number, "form_token": "x"], to: "/account/phones")
            #expect(foreign.status == 403)
            for text in ["40000000", "", "+47 (0) 40000000", String(repeating: "4", count: 5000)] {
                let wrong = try await visitor.asksForText(text)
                #expect(wrong.status == 400 && wrong.body.contains("role=\"alert\""), "\(text)")
            }
            world.server.clock.advance(by: .minutes(11))
            let old = try await visitor.asksForText(Self.number)
            #expect(old.status == 303 && old.header("location") == "/login?confirm=1&continue=%2Faccount%2Fphones")
            let eva = try await world.person("eva@example.com")
            var unverified = try await world.signedIn(as: "eva@example.com")
            #expect(try await unverified.browser.open("/account/phones").body.contains("href=\"/verify\""))
            let asked = try await unverified.browser.submit(
                try await unverified.browser.open("/account"), ["phone_number": Self.number], to: "/account/phones")
            #expect(asked.status == 409 && asked.body.contains("href=\"/verify\""))
            #expect(try await world.user(eva)["phone_number"] == nil)
            #expect(world.server.mail.letters(to: Self.number).isEmpty)
        }
    }

    @Test(
        "A code to a phone number is valid in the browser that requested it, for five tries and ten minutes",
        arguments: Backend.available)
    func codes(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            var visitor = try await world.signedIn()
            let asked = try await visitor.asksForText(Self.number)
            let code = try await world.textCode()
            let wrong = code == "000000" ? "000001" : "000000"
            var other = try await world.signedIn()
            let stolen = try await other.browser.submit(asked, ["code": code])
            #expect(stolen.status == 403 || stolen.status == 404)
            for _ in 1...4 { #expect(try await visitor.browser.submit(asked, ["code": wrong]).status == 400) }
            #expect(try await visitor.browser.submit(asked, ["code": wrong]).status == 410)
            #expect(try await visitor.browser.submit(asked, ["code": code]).status == 410)
            let late = try await visitor.asksForText(Self.number)
            let lateCode = try await world.textCode()
            world.server.clock.advance(by: .minutes(10))
            #expect(try await visitor.browser.submit(late, ["code": lateCode]).status == 410)
            #expect(try await world.user()["phone_number"] == nil)
        }
    }

    @Test(
        "The page of phone numbers shows a notice of success only if the request comes from this site's pages",
        arguments: Backend.available)
    func foreignLink(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            var visitor = try await world.signedIn()
            for done in ["added", "removed"] {
                let path = "/account/phones?done=\(done)"
                let ours = try await visitor.browser.open(path, headers: ["Sec-Fetch-Site": "same-origin"])
                #expect(ours.body.contains("class=\"notice\""))
                for site in ["cross-site", "none"] {
                    let page = try await visitor.browser.open(path, headers: ["Sec-Fetch-Site": site])
                    #expect(page.status == 200 && !page.body.contains("class=\"notice\""))
                }
            }
        }
    }

    @Test("A user can request codes to five phone numbers at once, and then has to wait", arguments: Backend.available)
    func flood(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            var visitor = try await world.signedIn()
            for last in 1...5 { #expect(try await visitor.asksForText("+474000000\(last)").status == 200) }
            let refused = try await visitor.asksForText(Self.number)
            #expect(refused.status == 429 && refused.header("retry-after") != nil)
            #expect(world.server.mail.letters(to: Self.number).isEmpty)
        }
    }

    @Test(
        "A password reset that verifies a new e-mail address makes the phone number unverified",
        arguments: Backend.available)
    func takenOver(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            try await world.verifiesPhone()
            try await world.change("users", world.user, ["email": "grace@example.com"])
            var grace = BrowserUser(world)
            _ = try await grace.fill("/password", ["email": "grace@example.com"])
            let letter = try await world.server.mail.letter(to: "grace@example.com")
            let link = try #require(letter.link(containing: "/password/reset/"))
            _ = try await grace.fill(
                link.replacing("http://spindle.test", with: ""), ["password": "Grace's own loom"])
            #expect(try await world.user()["phone_number_verified"] == false)
        }
    }

    @Test(
        "A user's export has the verified phone number, and the user's deletion erases it",
        arguments: Backend.available)
    func personalData(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            try await world.verifiesPhone()
            var visitor = try await world.signedIn()
            _ = try await visitor.asksForText("+4740000007")
            let data = try await visitor.browser.open("/account/data").json
            #expect(data["account"]?["verified_phone_number"]?.string == Self.number)
            #expect(data["account"]?["phone_number_verified_at"]?.string == "2027-01-15T08:00:00Z")
            let pending = data["pending_verifications"]?.array ?? []
            #expect(pending.contains { $0["phone_number"]?.string == "+4740000007" })
            let token = try await world.server.post(
                "/oauth/token", ["grant_type": "client_credentials", "scope": "admin"],
                basic: (world.server.adminID, world.server.adminSecret)
            ).require("access_token")
            #expect(try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: token).status == 204)
            #expect(try await world.places(of: "4740000000").isEmpty)
            #expect(try await world.places(of: "4740000007").isEmpty)
        }
    }

    @Test("Without the sms setting there is no page for phone numbers and no link to it")
    func off() async throws {
        try await World.with(.sqlite) { world in
            var visitor = try await world.signedIn()
            #expect(try await !visitor.browser.open("/account").body.contains("/account/phones"))
            #expect(try await visitor.browser.open("/account/phones").header("location") == "/account")
            #expect(try await visitor.browser.open("/account/phones/check").header("location") == "/account/phones")
        }
    }

    @Test(
        "Removing a verified phone number is limited like a revocation; removing it again ends nothing",
        arguments: Backend.available)
    func removed(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            try await world.verifiesPhone()
            var visitor = try await world.signedIn()
            let page = try await visitor.browser.open("/account/phones")
            try await world.useUpRevocations()
            let refused = try await visitor.press(page, action: "/account/phones/remove")
            #expect(refused.status == 429 && refused.header("retry-after") == "10" && refused.isPage, "\(refused)")
            #expect(try await world.user()["phone_number_verified"] == true)
            world.server.clock.advance(by: .seconds(10))
            let removed = try await visitor.press(page, action: "/account/phones/remove")
            #expect(removed.header("location") == "/account/phones?done=removed")
            #expect(try await world.user()["phone_number_verified"] == false)
            // A search for tokens of text messages would end this one.
            let token = try await world.signIn().require("access_token")
            try await world.server.database.write { db in
                _ = try db.execute("UPDATE token_families SET method = 'sms' WHERE ended_at IS NULL")
            }
            let again = try await visitor.press(page, action: "/account/phones/remove")
            #expect(again.header("location") == "/account/phones?done=removed", "nothing is charged")
            #expect(try await world.isLive(token))
        }
    }

    @Test("Removing an unverified phone number voids its code", arguments: Backend.available)
    func waiting(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            var visitor = try await world.signedIn()
            let asked = try await visitor.asksForText(PhoneStory.number)
            let code = try await world.textCode()
            let page = try await visitor.browser.open("/account/phones")
            #expect(try await visitor.press(page, action: "/account/phones/remove").status == 303)
            #expect(try await visitor.browser.submit(asked, ["code": code]).status == 410)
        }
    }

    @Test(
        "After five codes to a phone number, each further user can request two more to it",
        arguments: Backend.available)
    func usedUp(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            let eva = try await world.person("eva@example.com")
            try await world.change("users", eva, ["email_verified": true])
            var stranger = try await world.signedIn(as: "eva@example.com")
            var ada = try await world.signedIn()
            func codes() async throws -> Int { try await world.count("verifications WHERE code IS NOT NULL") }
            for _ in 1...5 { #expect(try await stranger.asksForText(PhoneStory.number).status == 200) }
            for expected in [6, 7, 7] {
                #expect(try await ada.asksForText(PhoneStory.number).status == 200)
                #expect(try await codes() == expected)
            }
        }
    }

    @Test(
        "However many users request codes to one phone number, at most 35 codes are sent to it",
        arguments: Backend.available)
    func manyUsers(backend: Backend) async throws {
        let settings = PhoneStory.settings.merging(["trusted_proxies": "127.0.0.0/8"]) { $1 }
        try await PhoneStory.with(backend, settings: settings) { world in
            for number in 1...20 {
                let email = "user\(number)@example.com"
                try await world.change("users", try await world.person(email), ["email_verified": true])
                var visitor = try await world.signedIn(as: email)
                for _ in 1...2 {
                    let page = try await visitor.browser.open("/account/phones")
                    let answer = try await visitor.browser.submit(
                        page, ["phone_number": PhoneStory.number], to: "/account/phones",
                        headers: ["X-Forwarded-For": "203.0.113.\(number)"])
                    #expect(answer.status == 200)
                }
            }
            #expect(try await world.count("verifications WHERE code IS NOT NULL") == 5 + 30)
        }
    }
}
