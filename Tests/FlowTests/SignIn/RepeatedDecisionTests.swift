import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("A form sent again decides once")
struct RepeatedDecisionTests {
    private func leave(_ visitor: inout BrowserUser) async throws {
        let world = visitor.world
        #expect(try await visitor.fill("/account/delete", ["current_password": World.password]).status == 200)
        _ = try await world.server.mail.letter(to: World.email)
    }

    @Test("A user who leaves is told so again, and the same page keeps nothing", arguments: Backend.available)
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

    @Test("A code typed while a deletion waits offers the same again", arguments: Backend.available)
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

    @Test("A code that signed in offers nothing after its user asked to be deleted", arguments: Backend.available)
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

    @Test("An address is changed once by a code that is sent twice, and told once", arguments: Backend.available)
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

    @Test("A code that confirms an address is accepted from both of two clicks", arguments: Backend.available)
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

    @Test("A number is added once by a code that is sent twice, and told once", arguments: Backend.available)
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
