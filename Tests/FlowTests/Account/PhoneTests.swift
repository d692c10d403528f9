import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@Suite("Users verify the phone number that codes are sent to")
struct PhoneTests {
    private static let number = PhoneStory.number

    @Test("a number is the user's, verified, after a code by text message", arguments: Backend.available)
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
        "claims and SPiD's user object say so, only while it is the number of the profile", arguments: Backend.available
    )
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
        "only the reader of a number learns that another user has it; who removes it, gives it up",
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

    @Test("it takes a recent sign-in, a verified address and a form of this user's", arguments: Backend.available)
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

    @Test("a code counts in the browser that asked, five times, for ten minutes", arguments: Backend.available)
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

    @Test("a link elsewhere makes the page say what nobody did", arguments: Backend.available)
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

    @Test("a user asks for five codes, and a number gets five", arguments: Backend.available)
    func flood(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            var visitor = try await world.signedIn()
            for last in 1...5 { #expect(try await visitor.asksForText("+474000000\(last)").status == 200) }
            let refused = try await visitor.asksForText(Self.number)
            #expect(refused.status == 429 && refused.header("retry-after") != nil)
            #expect(world.server.mail.letters(to: Self.number).isEmpty)
        }
    }

    @Test("whoever takes the account over by mail finds no number of another's", arguments: Backend.available)
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

    @Test("the export has the number, and no row after the deletion", arguments: Backend.available)
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

    @Test("without the setting there is no such page, and nothing of it on the account page")
    func off() async throws {
        try await World.with(.sqlite) { world in
            var visitor = try await world.signedIn()
            #expect(try await !visitor.browser.open("/account").body.contains("/account/phones"))
            #expect(try await visitor.browser.open("/account/phones").header("location") == "/account")
            #expect(try await visitor.browser.open("/account/phones/check").header("location") == "/account/phones")
        }
    }
}
