import Directory
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("A form with a mailed code or link can be sent again by its browser")
struct RepeatedFormTests {
    typealias Way = RepeatedForm.Way

    /// How many sessions are live.
    private func sessions(_ world: World) async throws -> Int {
        let now = world.server.clock.now.milliseconds
        return try await world.count("sessions WHERE ended_at IS NULL AND expires_at > \(now)")
    }

    @Test(
        "A form of a mailed code or link whose answer got lost is answered the same when sent again",
        arguments: Backend.available, Way.allCases)
    func lostAnswer(backend: Backend, way: Way) async throws {
        try await World.with(backend) { world in
            var form = try await way.form(world)
            let lost = try await form.sendInVain()
            #expect(lost.answer.status == 303, "\(lost.answer)")
            let logins = try await world.count("logins")
            for _ in 1...2 {
                let answer = try await form.send()
                #expect(answer.status == 303 && answer.header("location") == lost.answer.header("location"))
                #expect(answer.cookie("spindle_session") == lost.answer.cookie("spindle_session"), "\(answer)")
            }
            #expect(try await form.visitor.isSignedIn())
            #expect(try await sessions(world) == 1)
            #expect(try await world.count("users WHERE email = '\(way.user)'") == 1)
            // A password that is asked again is another attempt to sign in.
            #expect(try await world.count("logins") == logins + (way == .confirmAddress ? 2 : 0))
        }
    }

    @Test(
        "A form of a mailed code or link sent four times at once signs in once, with the same answer to all",
        arguments: Backend.available,
        Way.allCases)
    func clickedTwice(backend: Backend, way: Way) async throws {
        try await World.with(backend) { world in
            let form = try await way.form(world)
            let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                for _ in 1...4 { group.addTask { try await form.sendInVain().answer } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(answers.map(\.status)) == [303], "\(answers)")
            #expect(Set(answers.map { $0.cookie("spindle_session") }).count == 1)
            #expect(Set(answers.map { $0.header("location") }).count == 1)
            #expect(try await sessions(world) == 1)
            #expect(try await world.count("users WHERE email = '\(way.user)'") == 1)
        }
    }

    @Test(
        "A form of a mailed code or link is answered though the outcome of every COMMIT is unknown",
        arguments: Backend.available, Way.allCases)
    func unknownOutcome(backend: Backend, way: Way) async throws {
        try await World.with(backend) { world in
            var form = try await way.form(world)
            world.server.interruptions.forgetsOutcomes = true
            #expect(try await form.send().status == 303)
            #expect(try await form.visitor.isSignedIn())
            #expect(try await sessions(world) == 1)
        }
    }

    @Test(
        "A form of a mailed code or link is refused in another browser after its own browser has sent it",
        arguments: Backend.available, Way.allCases)
    func anotherBrowser(backend: Backend, way: Way) async throws {
        try await World.with(backend) { world in
            let form = try await way.form(world)
            #expect(try await form.sendInVain().answer.status == 303)
            var thief = BrowserUser(world)
            let own = try await thief.browser.open("/login")
            let sent = form.page.fields.merging(form.fields) { $1 }
                .merging(["form_token": own.fields["form_token"] ?? ""]) { $1 }
            let answer = try await thief.browser.submit(own, sent, to: form.page.formAction)
            #expect(answer.status == (way.isLink ? 410 : 404) && thief.browser.session == nil, "\(answer)")
        }
    }

    @Test(
        "A form of a mailed code or link does not sign in again after its user signed out",
        arguments: Backend.available, Way.allCases)
    func afterLogout(backend: Backend, way: Way) async throws {
        try await World.with(backend) { world in
            var form = try await way.form(world)
            var browser = try await form.sendInVain().browser
            _ = try await browser.fill("/logout", [:])
            try await expectOver(&form, world)
        }
    }

    @Test(
        "A form of a mailed code or link does not sign in again after its user changed the password",
        arguments: Backend.available,
        Way.allCases)
    func afterNewPassword(backend: Backend, way: Way) async throws {
        try await World.with(backend) { world in
            var form = try await way.form(world)
            _ = try await form.sendInVain()
            let id = try await world.server.database.read { db in
                try db.rows("SELECT id FROM users WHERE email = \(way.user)").first?.get("id", as: UserID.self)
            }
            let user = try #require(id)
            #expect(try await world.change("users", "\(user)", ["password": "yet another loom"]).status == 200)
            try await expectOver(&form, world)
        }
    }

    @Test(
        "The form of a sign-up or reset link does not sign in again when it is sent again two hours later",
        arguments: Backend.available, [Way.signUpLink, .reset])
    func afterIdleSession(backend: Backend, way: Way) async throws {
        try await World.with(backend) { world in
            var form = try await way.form(world)
            _ = try await form.sendInVain()
            world.server.clock.advance(by: .hours(2))
            try await expectOver(&form, world)
        }
    }

    private func expectOver(_ form: inout RepeatedForm, _ world: World) async throws {
        let answer = try await form.send()
        // Where the form asks for the password, that is wrong now.
        #expect(answer.status == 410 || (answer.status == 400 && form.fields["password"] != nil), "\(answer)")
        #expect(answer.setCookie("spindle_session") == nil)
        #expect(try await !form.visitor.isSignedIn())
        #expect(try await sessions(world) == 0)
    }

    @Test(
        "A form of a mailed code or link sent again after another user signed in leaves that user signed in",
        arguments: Backend.available, Way.allCases)
    func anotherUser(backend: Backend, way: Way) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("eve@example.com")
            var form = try await way.form(world)
            _ = try await form.sendInVain()
            try await form.visitor.browser.signIn(as: "eve@example.com")
            let eve = form.visitor.browser.session
            #expect(try await form.send().status == 410)
            #expect(form.visitor.browser.session == eve && eve != nil)
        }
    }

    @Test(
        "A mailed code that signed in is refused when it is submitted again after its lifetime",
        arguments: Backend.available)
    func late(backend: Backend) async throws {
        try await World.with(backend) { world in
            var form = try await Way.signIn.form(world)
            #expect(try await form.sendInVain().answer.status == 303)
            world.server.clock.advance(by: .minutes(10))
            #expect(try await form.send().status == 410)
            #expect(try await !form.visitor.isSignedIn())
        }
    }

    @Test(
        "Wrong guesses at a mailed code use up its five tries even after the right code was accepted",
        arguments: Backend.available)
    func guesses(backend: Backend) async throws {
        try await World.with(backend) { world in
            var form = try await Way.signIn.form(world)
            #expect(try await form.sendInVain().answer.status == 303)
            // The right code costs no try.
            for _ in 1...6 { #expect(try await form.sendInVain().answer.status == 303) }
            let wrong = form.fields["code"] == "000000" ? "000001" : "000000"
            for _ in 1...4 { #expect(try await form.send(["code": wrong]).status == 400) }
            #expect(try await form.send(["code": wrong]).status == 410)
            #expect(try await form.send().status == 410)
            #expect(try await !form.visitor.isSignedIn())
        }
    }

    @Test("A used reset link sets no other password", arguments: Backend.available)
    func anotherPassword(backend: Backend) async throws {
        try await World.with(backend) { world in
            var form = try await Way.reset.form(world)
            #expect(try await form.sendInVain().answer.status == 303)
            let other = try await form.send(["password": "yet another loom"])
            #expect(other.status == 410 && other.setCookie("spindle_session") == nil)
            #expect(try await form.send().status == 303)
            #expect(try await world.signIn(password: "a brand new loom").status == 200)
            _ = try await world.server.mail.letter(to: World.email)
            #expect(world.server.mail.letters(to: World.email).count == 2, "the link, and one report")
        }
    }

    @Test(
        "A used reset link's form is refused after five wrong passwords, so it cannot serve for guessing",
        arguments: Backend.available)
    func passwordGuesses(backend: Backend) async throws {
        try await World.with(backend) { world in
            var form = try await Way.reset.form(world)
            #expect(try await form.sendInVain().answer.status == 303)
            for number in 1...5 {
                #expect(try await form.send(["password": "guess number \(number)"]).status == 410)
            }
            #expect(try await form.send().status == 410)
        }
    }

    @Test("A reset link used in another browser leads to the app even when its form is sent twice")
    func onward() async throws {
        try await World.with(.sqlite) { world in
            var asker = BrowserUser(world)
            let waiting = try await world.begin(world.authorizeAddress(), in: &asker.browser)
            _ = try await asker.fill("/password?continue=\(waiting)", ["email": World.email])
            let link = try #require(
                try await world.server.mail.letter(to: World.email).link(containing: "/password/reset/"))
            var reader = BrowserUser(world)
            let page = try await reader.browser.open(link.replacing("http://spindle.test", with: ""))
            var form = RepeatedForm(visitor: reader, page: page, fields: ["password": "a brand new loom"])
            let lost = try await form.sendInVain()
            let again = try await form.send()
            #expect(again.header("location") == lost.answer.header("location"))
            let unseen = try await form.visitor.follow(again)
            let back = try await form.visitor.browser.submit(unseen, ["decision": "continue"])
            #expect(try await form.visitor.follow(back).redirected("code") != nil)
        }
    }

    private func leave(_ visitor: inout BrowserUser) async throws {
        let world = visitor.world
        #expect(try await visitor.fill("/account/delete", ["current_password": World.password]).status == 200)
        _ = try await world.server.mail.letter(to: World.email)
    }

    @Test(
        "A user who declines to keep the account gets the same answer again, and cannot keep it by that form",
        arguments: Backend.available)
    func leaving(backend: Backend) async throws {
        try await World.with(backend) { world in
            var form = try await RepeatedForm.Way.restore.form(world)
            let left = try await form.send(["decision": "leave"])
            #expect(left.status == 200 && left.words.contains("Your account will be deleted"))
            #expect(try await form.send(["decision": "leave"]).body == left.body)
            #expect(try await form.send(["decision": "keep"]).status == 410)
            #expect(try await !form.visitor.isSignedIn())
            #expect(try await world.user()["deletion_due_at"] != nil)
        }
    }

    @Test(
        "A mailed code submitted again while a deletion is pending offers again to keep the account",
        arguments: Backend.available)
    func offer(backend: Backend) async throws {
        try await World.with(backend) { world in
            var leaving = try await world.signedIn()
            try await leave(&leaving)
            var form = try await RepeatedForm.Way.signIn.form(world)
            let lost = try await form.sendInVain().answer
            let again = try await form.send()
            #expect(again.formAction == "/account/restore")
            #expect(again.fields["verification"] == lost.fields["verification"])
            let kept = try await form.visitor.browser.submit(again, ["decision": "keep"])
            #expect(kept.status == 303)
            #expect(try await form.visitor.isSignedIn())
            #expect(try await form.send().status == 410, "what was offered is decided")
        }
    }

    @Test(
        "A used mailed code offers no way to keep the account once its user requested the deletion",
        arguments: Backend.available)
    func afterDeletion(backend: Backend) async throws {
        try await World.with(backend) { world in
            var form = try await RepeatedForm.Way.signIn.form(world)
            var browser = try await form.sendInVain().browser
            try await leave(&browser)
            let again = try await form.send()
            #expect(again.status == 410 && again.formAction == nil, "\(again)")
            #expect(try await world.count("verifications WHERE purpose = 'restore'") == 0)
        }
    }

    @Test(
        "A code that is submitted twice changes the e-mail address once, with one mail to the old address",
        arguments: Backend.available)
    func address(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            func ask(_ email: String) async throws -> RepeatedForm {
                let page = try await visitor.browser.open("/account")
                let asked = try await visitor.press(
                    page, action: "/account/email", ["email": email, "current_password": World.password])
                let code = try #require(try await world.server.mail.letter(to: email).code)
                return RepeatedForm(visitor: visitor, page: asked, fields: ["code": code])
            }
            var first = try await ask("ada.lovelace@example.com")
            for _ in 1...2 {
                let done = try await first.send()
                #expect(done.header("location") == "/account?done=email", "\(done)")
            }
            _ = try await world.server.mail.letter(to: World.email)
            #expect(world.server.mail.letters(to: World.email).count == 1)
            var second = try await ask("countess@example.com")
            #expect(try await second.send().status == 303)
            #expect(try await first.send().status == 410, "the address is another by now")
            #expect(try await world.user()["email"] == "countess@example.com")
        }
    }

    @Test("A code that verifies an address is accepted from each of four clicks", arguments: Backend.available)
    func verify(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            let asked = try await visitor.fill("/verify", [:])
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            let form = RepeatedForm(visitor: visitor, page: asked, fields: ["code": code])
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 1...4 { group.addTask { try await form.sendInVain().answer.status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == [303, 303, 303, 303])
            #expect(try await world.user()["email_verified"] == true)
        }
    }

    @Test("A code that is submitted twice adds the phone number once, with one mail", arguments: Backend.available)
    func phone(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            var visitor = try await world.signedIn()
            let asked = try await visitor.asksForText(PhoneStory.number)
            var form = RepeatedForm(visitor: visitor, page: asked, fields: ["code": try await world.textCode()])
            for _ in 1...2 {
                #expect(try await form.send().header("location") == "/account/phones?done=added")
            }
            _ = try await world.server.mail.letter(to: World.email)
            #expect(world.server.mail.letters(to: World.email).count == 1)
            let page = try await form.visitor.browser.open("/account/phones")
            _ = try await form.visitor.press(page, action: "/account/phones/remove")
            #expect(try await form.send().status == 410, "the number is removed")
            #expect(try await world.user()["phone_number_verified"] != true)
        }
    }
}
