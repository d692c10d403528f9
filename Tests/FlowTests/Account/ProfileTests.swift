import JSON
import Mail
import TestSupport
import Testing

@Suite("Users edit their profile, in any script")
struct ProfileTests {
    private static let fields = ["name", "given_name", "family_name", "phone_number", "locale"]

    @Test(
        "A profile field that is filled in is stored, and one that is emptied is removed", arguments: Backend.available)
    func change(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            let filled = [
                "name": "Augusta Ada King", "given_name": "Augusta", "family_name": "King",
                "phone_number": "+44 20 7946 0000", "locale": "sv",
            ]
            let answer = try await visitor.change("profile", filled)
            #expect(answer.status == 303)
            #expect(answer.header("location") == "/account?done=profile")
            #expect(try await visitor.follow(answer).body.contains("Augusta Ada King"))
            let user = try await world.user()
            for (field, value) in filled { #expect(user[field]?.string == value, "\(field)") }

            _ = try await visitor.change("profile", ["name": "  ", "phone_number": ""])
            let emptied = try await world.user()
            #expect(emptied["name"] == nil)
            #expect(emptied["phone_number"] == nil)
            #expect(emptied["given_name"]?.string == "Augusta", "a field that was not sent stays")
        }
    }

    @Test("The language in a user's profile is that of their account pages and mails", arguments: Backend.available)
    func language(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            #expect(try await visitor.browser.open("/account").body.contains("lang=\"en\""))
            let saved = try await visitor.follow(try await visitor.change("profile", ["locale": "sv"]))
            #expect(saved.body.contains("lang=\"sv\""))
            for (path, language) in [("/account/delete", "sv"), ("/account?ui_locales=de", "de"), ("/login", "en")] {
                #expect(try await visitor.browser.open(path).body.contains("lang=\"\(language)\""), "\(path)")
            }
            _ = try await visitor.change(
                "email", ["email": "augusta@example.com", "current_password": World.password])
            #expect(try await world.server.mail.letter(to: "augusta@example.com").text.contains("koden"))
            let emptied = try await visitor.follow(try await visitor.change("profile", ["locale": ""]))
            #expect(emptied.body.contains("lang=\"en\""))
        }
    }

    @Test(
        "Emoji, direction marks and accents in a profile's name are stored as they were typed",
        arguments: ["👩🏽‍💻 Ada 🧵", "عائشة بنت طلحة", "\u{200F}שרה\u{200F} Ada", "Zoë Ångström", "İpek <b>&\"'</b>"])
    func scripts(name: String) async throws {
        for backend in Backend.available {
            try await World.with(backend) { world in
                var visitor = try await world.signedIn()
                let answer = try await visitor.change("profile", ["name": name])
                #expect(answer.status == 303)
                #expect(try await world.user()["name"]?.string?.utf8.elementsEqual(name.utf8) == true)
                #expect(!(try await visitor.follow(answer).body.contains("<b>&")))
            }
        }
    }

    @Test(
        "A value that a profile cannot hold is refused on the account page and not stored",
        arguments: [String(repeating: "å", count: 251), "Ada\u{7}", "Ada\u{1B}[31m", "two\nlines"])
    func unfit(name: String) async throws {
        try await World.with(.sqlite) { world in
            var visitor = try await world.signedIn()
            for field in Self.fields {
                let answer = try await visitor.change("profile", [field: name, "nickname": "kept"])
                #expect(answer.status == 400)
                #expect(answer.isPage)
                #expect(answer.body.contains("role=\"alert\""))
            }
            #expect(try await world.user()["name"]?.string == "Ada Lovelace")
        }
    }

    @Test(
        "The profile form of the account page does not change claims that users may not set",
        arguments: Backend.available)
    func others(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.change("users", world.user, ["nickname": "Countess"])
            var visitor = try await world.signedIn()
            _ = try await visitor.change(
                "profile",
                [
                    "name": "Ada", "nickname": "Mallory", "email": "mallory@example.com", "email_verified": "true",
                    "user_id": "1",
                ])
            let user = try await world.user()
            #expect(user["name"]?.string == "Ada")
            #expect(user["nickname"]?.string == "Countess")
            #expect(user["email"]?.string == World.email)
            #expect(user["email_verified"]?.bool == false)
            #expect(user["user_id"]?.string == world.user)
        }
    }

    @Test(
        "A user can change the profile twenty times at once, then once in thirty seconds", arguments: Backend.available)
    func flood(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            for number in 1...20 {
                #expect(try await visitor.change("profile", ["name": "Ada \(number)"]).status == 303)
            }
            let refused = try await visitor.change("profile", ["name": "Ada 21"])
            #expect(refused.status == 429)
            #expect(refused.header("retry-after") == "30")
            #expect(refused.body.contains("role=\"alert\"") && refused.body.contains("Ada 21"))
            #expect(try await world.user()["name"]?.string == "Ada 20")
            // The same value again is no change, and is not counted.
            #expect(try await visitor.change("profile", ["name": "Ada 20"]).status == 303)
            world.server.clock.advance(by: .seconds(30))
            #expect(try await visitor.change("profile", ["name": "Ada 21"]).status == 303)
            #expect(try await visitor.change("profile", ["name": "Ada 22"]).status == 429)
        }
    }
}
