import JSON
import Storage
import TestSupport
import Testing

@Suite("How often users add phone numbers and remove them")
struct PhoneLimitTests {
    @Test(
        "a user removes a number over and over, or one that is not there, and all that they have is gone through",
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
            // It would end, if anybody looked for it.
            let token = try await world.signIn().require("access_token")
            try await world.server.database.write { db in
                _ = try db.execute("UPDATE token_families SET method = 'sms' WHERE ended_at IS NULL")
            }
            let again = try await visitor.press(page, action: "/account/phones/remove")
            #expect(again.header("location") == "/account/phones?done=removed", "nothing is charged")
            #expect(try await world.isLive(token))
        }
    }

    @Test("what waits at a number that is not verified yet is redeemed after its removal", arguments: Backend.available)
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
        "a stranger uses up the codes to a number, and no user can add it; or a user has codes there without end",
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

    @Test("many users have codes sent to a stranger's number without end", arguments: Backend.available)
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
